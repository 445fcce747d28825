#include "adapters/claude_code/claude_code.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "adapters/claude_code/session.h"
#include "orchestrator/base/error.h"

namespace forge::adapters {
namespace {

namespace fs = std::filesystem;

class ClaudeCode final : public AgentAdapter {
 public:
  ClaudeCode(const egress::Gateway& gateway, ClaudeCodeOptions options) : gateway_(gateway), options_(std::move(options)) {}

  std::string_view name() const override { return "claude-code"; }

  void check(const JobSpec& spec) const override {
    if (program().empty()) throw bad_input("adapter", "claude-code is not installed on this machine", options_.remedy);
    gateway_.check_door(spec, models::WireFormat::anthropic);
  }

  std::vector<int> listener_ports() const override { return {sandbox::kModelPort}; }

  std::vector<sandbox::ReadOnlyFile> files() const override {
    std::string source = program();
    if (source.empty())
      throw public_failure(ErrorCode::unavailable, "claude-code is not installed on this machine").with_hint(options_.remedy);
    return {{.target = std::string(claude_code::kProgram), .source = std::move(source)}};
  }

  std::unique_ptr<AgentSession> start(const RunContext& context) override {
    return std::make_unique<claude_code::Session>(
        context,
        [&](TraceSink& trace) {
          return gateway_.open_door(context.job, context.run, trace, context.sandbox.take_listener(sandbox::kModelPort));
        },
        claude_code::Session::Options{});
  }

 private:
  /// Without links on the way, so that what is shown inside is what was looked at; empty when there is no such file.
  std::string program() const {
    std::error_code error;
    const fs::path path = fs::canonical(options_.program, error);
    return !error && fs::is_regular_file(path, error) ? path.string() : std::string();
  }

  const egress::Gateway& gateway_;
  const ClaudeCodeOptions options_;
};

}  // namespace

std::unique_ptr<AgentAdapter> make_claude_code(const egress::Gateway& gateway, ClaudeCodeOptions options) {
  return std::make_unique<ClaudeCode>(gateway, std::move(options));
}

}  // namespace forge::adapters
