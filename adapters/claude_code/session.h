#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapters/adapter.h"
#include "adapters/claude_code/command_line.h"
#include "adapters/claude_code/end_watch.h"
#include "adapters/claude_code/line_reader.h"
#include "adapters/claude_code/outcome.h"
#include "adapters/claude_code/stream.h"
#include "adapters/claude_code/turn_trace.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/egress/model_door.h"

namespace forge::adapters::claude_code {

/// The program at work on one run: each prompt is one start of it, later ones resume its session. Silence is not watched for here: what it
/// prints keeps the run's stall limit from firing, as a tool at work does.
class Session final : public AgentSession {
 public:
  /// Opens the run's way to its model; `trace` outlives it.
  using OpenDoor = std::function<std::unique_ptr<egress::ModelDoor>(TraceSink& trace)>;
  struct Options {
    /// The program may live so long after its last line: it tidies up, and has been seen to hang.
    std::chrono::milliseconds end_time = std::chrono::seconds(10);
  };

  /// The references of `context` outlive the session.
  Session(const RunContext& context, const OpenDoor& open_door, Options options);
  AgentResult prompt(const std::string& text, const Stop& stop) override;
  std::optional<SavedSession> save(const Stop& stop) override;

 private:
  /// Its folders, made anew, and the conversation that is gone on with.
  void prepare(const Stop& stop);
  AgentResult run(const sandbox::CommandSpec& command, const Stop& stop);
  /// What came of the command; nothing but its end when the watch ended it.
  sandbox::CommandResult run_watched(sandbox::CommandSpec command, Stream& stream, EndWatch& watch, const Stop& stop);
  /// After the program's end, whatever it was.
  void end_prompt(Stream& stream);
  void over_limit();
  bool tokens_are_used() { return trace_.tokens() >= context_.job.spec.limits.max_tokens; }

  const RunContext context_;
  const Options options_;
  // Of the prompt under way. It stands before the door, whose thread may end the prompt as long as there is a door.
  Guarded<EndWatch*> watch_;
  TurnTrace trace_;
  std::unique_ptr<egress::ModelDoor> door_;
  const std::string system_prompt_;
  const std::string session_id_;
  bool begun_ = false;  // the session has a transcript to resume
  bool prepared_ = false;
  bool as_root_ = false;
  std::optional<std::int64_t> reported_nano_usd_;
};

}  // namespace forge::adapters::claude_code
