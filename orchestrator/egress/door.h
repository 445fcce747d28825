#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/egress/door_models.h"
#include "orchestrator/egress/meter.h"
#include "orchestrator/egress/model_door.h"

namespace forge::egress {

/// Largest body of a request from inside: what Anthropic itself takes.
inline constexpr std::size_t kMostDoorBodyBytes = 32 << 20;

/// What one door is made of. References outlive it.
struct DoorParts {
  std::unique_ptr<DoorModels> models;
  std::unique_ptr<Meter> meter;
  std::unique_ptr<Redactor> redactor;  ///< knows the credentials of every provider
  TraceSink& trace;
  Log& log;
  std::chrono::milliseconds longest_answer;
  UniqueFd listener;
  std::string name;  ///< of the listener: the run
};

/// Serves at once. See ModelDoor.
std::unique_ptr<ModelDoor> make_door(DoorParts parts);

}  // namespace forge::egress
