#include "tools/bash.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "tools/excerpt.h"
#include "tools/registry.h"

namespace forge::tools {
namespace {

using sandbox::CommandResult;
using sandbox::CommandSpec;
using sandbox::Ended;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Said up front because models lose turns over each of these: state that does not last, output that is cut, servers that block the call.
constexpr const char* kBashDescription =
    "Run a command with bash in /workspace. Each call is a new shell: variables and directory changes do not last. Standard output and "
    "error come back together; of a long output you see the beginning and the end, and the path of a file that holds all of it. A command "
    "is killed after timeout_s seconds (120 unless given). Start servers in the background with their output in a file.";

constexpr const char* kBashSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "required": ["command"],
  "properties": {
    "command": {"type": "string", "minLength": 1, "description": "What bash shall run"},
    "timeout_s": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "Seconds until it is killed; 120 unless given"}
  }
})";

/// The limit of lines can cut what the driver did not: then the driver wrote no file.
std::string keep_whole(const CommandResult& result, const ToolContext& context) {
  if (!result.full_output_path.empty() || result.out.truncated()) return result.full_output_path;
  std::string path = fmt::format("/tmp/output-{}.txt", SteadyClock::now().time_since_epoch().count());
  try {
    context.sandbox->write_file(path, result.out.head + result.out.tail, context.stop);
    return path;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::cancelled || e.code() == ErrorCode::timed_out || e.code() == ErrorCode::unavailable) throw;
    return {};  // a full disk: the model is told that the rest was not kept
  }
}

/// Stands in the place of what was cut, and names the ways to the rest.
std::string cut_note(const Excerpt& excerpt, const std::string& path) {
  const std::string size = human_bytes(static_cast<std::size_t>(excerpt.cut_bytes));
  if (path.empty()) return fmt::format("[... {} left out and not kept: run it again with its output in a file ...]\n", size);
  return fmt::format("[... {} left out; the whole output is in {}: use grep, sed -n or read_file on it ...]\n", size, path);
}

/// What follows must begin a line of its own.
std::string with_newline(std::string text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

/// The last line of the outcome; empty when the command succeeded. Throws unavailable when the sandbox went with it.
std::string how_it_ended(const CommandResult& result, const CommandSpec& command, const ToolContext& context) {
  switch (result.ended) {
    case Ended::timed_out:
      return fmt::format("[killed after {} s, its time-out; at most {} s are left of this run]\n",
                         duration_cast<seconds>(command.timeout).count(), duration_cast<seconds>(context.stop.remaining()).count());
    case Ended::out_of_memory: return "[killed: the sandbox ran out of memory]\n";
    case Ended::output_limit: return "[killed: it wrote more output than is allowed]\n";
    case Ended::lifetime:
    case Ended::evicted:
    case Ended::driver_lost: throw Error(ErrorCode::unavailable, fmt::format("the sandbox is gone ({})", sandbox::name_of(result.ended)));
    case Ended::exited:
    case Ended::killed: break;
  }
  if (result.exit.signal) return fmt::format("[killed by signal {}]\n", *result.exit.signal);
  if (result.exit.code.value_or(0) != 0) return fmt::format("[exited with code {}]\n", *result.exit.code);
  return result.ended == Ended::killed ? "[killed]\n" : "";
}

class Bash final : public Tool {
 public:
  explicit Bash(std::vector<Caller> callers) : spec_{"bash", kBashDescription, kBashSchema, Access::acts, std::move(callers)} {}
  const ToolSpec& spec() const override { return spec_; }

  ToolOutcome call(const nlohmann::json& arguments, const ToolContext& context) const override {
    const auto& script = arguments.at("command").get_ref<const std::string&>();
    if (script.size() >= kMaxCommandBytes)
      return failed(fmt::format("The command is longer than {} bytes: write a script with write_file and run that.", kMaxCommandBytes - 1));
    if (script.find('\0') != std::string::npos) return failed("The command holds a NUL byte.");
    const seconds asked(arguments.value("timeout_s", kDefaultBashTimeout.count()));
    CommandSpec command;
    command.argv = {"bash", "-c", script};
    command.timeout = std::min<milliseconds>(asked, context.stop.remaining());
    command.merge_output = true;
    command.max_output_bytes = kMaxShownBytes;  // the driver then writes the file: nothing more crosses the border of the sandbox
    command.keep_full_output = true;
    if (context.alive) command.on_output = [&context](std::string_view, bool) { context.alive(); };
    return outcome_of(run(command, context), command, context);
  }

 private:
  static CommandResult run(CommandSpec& command, const ToolContext& context) {
    try {
      return context.sandbox->run(command, context.stop);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::not_found) throw;
      command.argv[0] = "sh";  // small images have no bash
      return context.sandbox->run(command, context.stop);
    }
  }

  /// A failed command is a failure of the call, so that no model takes it for done.
  static ToolOutcome outcome_of(const CommandResult& result, const CommandSpec& command, const ToolContext& context) {
    const std::string ending = how_it_ended(result, command, context);
    const Excerpt excerpt = excerpt_of(result.out);
    ToolOutcome outcome;
    outcome.ok = ending.empty();  // only success ends without a note
    outcome.truncated = excerpt.cut_bytes > 0;
    outcome.bytes = result.out.bytes;
    outcome.exit_code = result.exit.code;
    if (result.exit.signal) outcome.exit_code = 128 + *result.exit.signal;
    outcome.text = with_newline(excerpt.head);
    if (outcome.truncated) outcome.text += cut_note(excerpt, keep_whole(result, context)) + with_newline(excerpt.tail);
    if (outcome.text.empty()) outcome.text = "(no output)\n";
    outcome.text += ending;
    return outcome;
  }

  ToolSpec spec_;
};

}  // namespace

std::unique_ptr<Tool> make_bash(std::vector<Caller> callers) { return std::make_unique<Bash>(std::move(callers)); }

}  // namespace forge::tools
