#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace forge::adapters::pi {

/// Sees an agent that goes in circles: the same action with the same observation 4 times, the same failing action 3 times, or two
/// steps in turns 3 times over. Waiting (sleep, wait) is never a circle, nor is a command whose output changes.
class StuckDetector {
 public:
  /// Notes one tool call and what came of it. True when the agent is in a circle; the count then starts anew.
  bool note(std::string_view tool, std::string_view arguments, std::string_view observation, bool ok);

 private:
  struct Step {
    std::size_t action = 0;
    std::size_t observation = 0;
    bool ok = true;
    bool operator==(const Step&) const = default;
  };
  bool in_circle() const;

  std::deque<Step> steps_;  // the newest last, at most kRemembered
};

/// Without what differs from run to run of the same command: runs of white space, durations ("0.003s"), numbered output files.
std::string normalised(std::string_view text);

}  // namespace forge::adapters::pi
