#include "orchestrator/jobs/commands.h"

#include "orchestrator/base/text.h"

namespace forge::jobs {
namespace {

sandbox::CommandResult run_shell(const std::string& command, sandbox::Sandbox& sandbox, const Stop& stop) {
  sandbox::CommandSpec spec;
  spec.argv = {"/bin/bash", "-c", command};
  spec.timeout = stop.remaining();  // the run's own time limit is the limit
  spec.merge_output = true;
  spec.max_output_bytes = kCommandOutputBytes;
  return sandbox.run(spec, stop);
}

/// The code a shell would report: 128 + n for signal n, 124 for a time-out.
int shell_code(const sandbox::CommandResult& result) {
  if (result.ended == sandbox::Ended::timed_out) return 124;
  if (result.exit.code) return *result.exit.code;
  return 128 + result.exit.signal.value_or(9);
}

std::string how_it_ended(const sandbox::CommandResult& result) {
  if (result.ended != sandbox::Ended::exited) return std::string(sandbox::name_of(result.ended));
  return "exit status " + std::to_string(shell_code(result));
}

}  // namespace

std::string run_setup(const std::vector<std::string>& commands, sandbox::Sandbox& sandbox, TraceSink& trace, const Stop& stop) {
  for (const auto& command : commands) {
    const auto result = run_shell(command, sandbox, stop);
    const std::string output = to_utf8(result.out.text()).text;
    trace.append(trace::Setup{command, shell_code(result), {output}, result.duration_ms});
    if (result.ended == sandbox::Ended::exited && result.exit.ok()) continue;
    const auto last = cut_middle(output, 2000, 20, 0);
    return "setup command failed with " + how_it_ended(result) + ": " + command + "\n" + (last.tail.empty() ? last.head : last.tail);
  }
  return {};
}

Verdict run_verify(const std::vector<std::string>& commands, int round, sandbox::Sandbox& sandbox, TraceSink& trace, const Stop& stop) {
  Verdict verdict;
  for (const auto& command : commands) {
    const auto result = run_shell(command, sandbox, stop);
    const std::string output = to_utf8(result.out.text()).text;
    trace.append(trace::Verify{command, round, shell_code(result), {output}, result.duration_ms});
    verdict.results.push_back({command, shell_code(result)});
    if (result.ended == sandbox::Ended::exited && result.exit.ok()) continue;
    verdict.feedback += "$ " + command + "\n(" + how_it_ended(result) + ")\n" + output + "\n";
  }
  return verdict;
}

}  // namespace forge::jobs
