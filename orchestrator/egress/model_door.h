#pragma once

#include <optional>
#include <string>

#include "orchestrator/domain/job.h"

namespace forge::egress {

/// Why no more model calls of a run are answered: an upstream answer that cannot get better (auth_error), or a budget that is spent
/// (budget_exhausted). `text` is for people and holds no secret.
struct DoorClosed {
  Reason reason = Reason::api_error;
  std::string text;
};

/// One run's way to its model: serves the listener that its sandbox passed out, until it is destroyed. Safe from any thread.
class ModelDoor {
 public:
  virtual ~ModelDoor() = default;
  /// Set once, by the first fatal answer or spent budget; the agent has got a 403 that it does not try again.
  virtual std::optional<DoorClosed> closed() const = 0;
  /// Model requests that the provider has answered so far, whatever the answer was.
  virtual int requests() const = 0;
  /// The name that the agent is to ask for: "claude-sonnet-5" for anthropic/claude-sonnet-5, "scripted" for a script.
  virtual const std::string& model_name() const = 0;
  /// The same model as the `model` events of the trace call it: "anthropic/claude-sonnet-5". Events of other names are of helper models.
  virtual const std::string& metered_name() const = 0;
};

}  // namespace forge::egress
