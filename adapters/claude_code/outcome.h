#pragma once

#include <optional>
#include <string>

#include "adapters/adapter.h"
#include "adapters/claude_code/stream.h"
#include "orchestrator/egress/model_door.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::adapters::claude_code {

/// All that is known of one prompt when the program has ended.
struct Ending {
  const Heard& heard;
  const sandbox::CommandResult& command;  ///< of the program; nothing in it when it was ended from here
  std::optional<egress::DoorClosed> door;
  bool over_tokens = false;  ///< ended from here: the run's tokens are used up
};

/// How a prompt ended. The gateway's word counts first, then the program's terminal reason; its exit code and the word "success" do not.
AgentResult result_of(const Ending& ending);

}  // namespace forge::adapters::claude_code
