#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::adapters {

/// Of a conversation that is kept after its run.
inline constexpr std::size_t kMaxSavedSessionBytes = 16 << 20;

/// A conversation that was kept, in the adapter's own words: nobody else reads it.
struct SavedSession {
  std::string id;
  std::string data;
};

/// What one run gives an agent. All references outlive the session.
struct RunContext {
  const Job& job;
  const Run& run;
  sandbox::Sandbox& sandbox;
  TraceSink& trace;
  std::string instructions;              ///< the repository's AGENTS.md or CLAUDE.md, read from the base commit; empty when there is none
  std::optional<SavedSession> resume{};  ///< the conversation of an earlier run that this one goes on with, for adapters that can
};

struct AgentResult {
  Reason reason = Reason::completed;  ///< completed = the loop ended normally; whether anything changed is not the agent's word
  std::string summary;                ///< the agent's last text, for the commit and for people
  std::string error;                  ///< for people, when the reason is a failure
  /// What the agent itself says that all prompts of the session cost; nothing when it says nothing. What counts is the gateway's figure.
  std::optional<std::int64_t> reported_cost_nano_usd{};
};

/// One agent at work on one run; keeps the conversation, so that a failed verify command can be told to it.
class AgentSession {
 public:
  virtual ~AgentSession() = default;
  /// Works on `text` until the agent stops by itself or a limit ends it. Limits (turns, tokens, money) count over all prompts of the
  /// session. Ends by a limit, a refusal or an API failure are results; throws only cancelled, timed_out and what breaks the sandbox.
  virtual AgentResult prompt(const std::string& text, const Stop& stop) = 0;
  /// The conversation so far, for a later run; nothing when the agent keeps none, or it is larger than kMaxSavedSessionBytes. After any end
  /// of prompt(), as long as the sandbox is there.
  virtual std::optional<SavedSession> save(const Stop& /*stop*/) { return {}; }
};

/// An engine that does the edits of a run. Thread-safe; a session belongs to one thread.
class AgentAdapter {
 public:
  virtual ~AgentAdapter() = default;
  virtual std::string_view name() const = 0;
  /// Throws invalid_argument when the job's model is not to be had (said before the sandbox is made), through check().
  virtual void check(const JobSpec& spec) const = 0;
  /// Ports inside the sandbox that the adapter needs listened on (sandbox::kModelPort for CLIs).
  virtual std::vector<int> listener_ports() const { return {}; }
  /// Files of the machine that the sandbox has to show: the program of a CLI. Throws unavailable when one of them is not there.
  virtual std::vector<sandbox::ReadOnlyFile> files() const { return {}; }
  virtual std::unique_ptr<AgentSession> start(const RunContext& context) = 0;
};

}  // namespace forge::adapters
