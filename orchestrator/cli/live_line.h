#pragma once

#include <iosfwd>
#include <string>
#include <thread>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/cli/console.h"

namespace forge::cli {

/// Lines on standard error with a status line below them that shows life: a turning mark, a text, the time since the beginning.
/// Without a terminal the lines are plain and there is no status line. Safe to use from several threads.
class LiveLine {
 public:
  explicit LiveLine(const Console& console);
  /// Prints what still waits and takes the status line away.
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void note(std::string line);
  void status(std::string text);

 private:
  struct Waiting {
    std::vector<std::string> lines;
    std::string status;
  };
  void draw(const std::stop_token& token);
  void write(const Waiting& waiting, std::size_t frame) const;

  const Console& console_;
  const SteadyClock::time_point began_;
  Guarded<Waiting> waiting_;
  std::jthread thread_;  // last: it uses the rest. The only writer while it lives, so that no lock spans the writing.
};

}  // namespace forge::cli
