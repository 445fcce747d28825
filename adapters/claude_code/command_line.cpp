#include "adapters/claude_code/command_line.h"

#include <fmt/format.h>

#include <chrono>

#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"

namespace forge::adapters::claude_code {
namespace {

// The gateway adds the real one outside; the program only wants to see that there is one.
constexpr const char* kNoKey = "placeholder-the-gateway-holds-the-key";

// The run's own limits end the program long before; the driver wants a number.
constexpr auto kLongest = std::chrono::hours(24);

// Only the program's messages when it cannot start; the lines are read as they come.
constexpr std::size_t kKeptOutputBytes = 64 << 10;

std::vector<std::pair<std::string, std::string>> environment(bool as_root) {
  std::vector<std::pair<std::string, std::string>> env{
      {"ANTHROPIC_BASE_URL", fmt::format("http://127.0.0.1:{}", sandbox::kModelPort)},
      {"ANTHROPIC_API_KEY", kNoKey},
      {"CLAUDE_CONFIG_DIR", std::string(kStateFolder)},
      {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
      {"CLAUDE_CODE_MAX_RETRIES", "3"},
      {"DISABLE_AUTOUPDATER", "1"},
      {"DISABLE_TELEMETRY", "1"},
      {"DISABLE_ERROR_REPORTING", "1"},
      {"HOME", std::string(sandbox::kHome)},
      {"TMPDIR", std::string(kTempFolder)},
      {"NO_PROXY", "127.0.0.1,localhost,::1"},
      {"no_proxy", "127.0.0.1,localhost,::1"},
  };
  // Without it the program refuses to work as root; as a plain user it needs no word.
  if (as_root) env.emplace_back("IS_SANDBOX", "1");
  return env;
}

/// A text that begins with a slash would be taken for a command of the program, and never reach the model; a space before it is enough.
std::string plain(std::string prompt) {
  if (prompt.starts_with('/')) prompt.insert(0, 1, ' ');
  return prompt;
}

/// A text that looks like an option would be taken for one.
bool by_standard_input(const std::string& prompt) { return prompt.size() > kMaxPromptArgument || prompt.starts_with('-'); }

}  // namespace

// `--setting-sources user` is what keeps a repository's hooks, permissions, environment, servers and instructions out; the three after it
// are for what a later version may read elsewhere.
sandbox::CommandSpec command_for(const Invocation& invocation) {
  const std::string prompt = plain(to_utf8(invocation.prompt).text);
  sandbox::CommandSpec command;
  command.argv = {std::string(kProgram), "-p"};
  if (by_standard_input(prompt)) {
    command.input = prompt;
  } else {
    command.argv.push_back(prompt);
  }
  for (const char* word : {"--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "--setting-sources", "user",
                           "--strict-mcp-config", "--disable-slash-commands", "--tools", "Bash,Read,Edit,Write"})
    command.argv.emplace_back(word);
  for (const std::string& word : {std::string("--max-turns"), std::to_string(invocation.max_turns), std::string("--model"),
                                  invocation.model, std::string(invocation.resume ? "--resume" : "--session-id"), invocation.session_id,
                                  std::string("--append-system-prompt"), invocation.system_prompt})
    command.argv.push_back(word);
  command.env = environment(invocation.as_root);
  command.timeout = kLongest;
  command.max_output_bytes = kKeptOutputBytes;
  return command;
}

std::string transcript_path(const std::string& session_id) {
  return std::string(kStateFolder) + "/projects/-workspace/" + session_id + ".jsonl";
}

std::string new_session_id() {
  std::string digits = crypto::sha256_hex(crypto::random_token(32)).substr(0, 32);
  digits[12] = '4';
  digits[16] = '8';
  return fmt::format("{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4), digits.substr(12, 4), digits.substr(16, 4),
                     digits.substr(20));
}

}  // namespace forge::adapters::claude_code
