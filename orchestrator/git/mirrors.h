#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"

namespace forge::git {

/// The bare mirrors of a data directory: mirrors/<sha256 of the repository's name>/. One process owns them; inside it, one caller at a
/// time brings a mirror up to date.
class Mirrors {
 public:
  /// Makes the directory; removes what a crash left half made, and beyond `max_bytes` the longest unused mirrors that hold no run's
  /// commits.
  Mirrors(std::string directory, std::int64_t max_bytes, Log& log);

  /// Git directory of the mirror of `repository_name`; it may not exist yet.
  std::string path_of(const std::string& repository_name) const;

  /// Runs `refresh` while nobody else refreshes this mirror. Not at all when somebody else's refresh, with the same `what`, began after
  /// this call did: then the mirror is as new as this caller may expect. Waits at most as long as `stop` allows.
  void refresh(const std::string& git_dir, const std::string& what, const Stop& stop, const std::function<void()>& refresh);

  /// Makes an empty bare repository under a temporary name, lets `fill` complete it, and gives it its place `git_dir` when that succeeds.
  void create(const std::string& git_dir, const std::function<void(const std::string& temporary)>& fill);
  /// Removes what a killed transfer left behind. Call it inside refresh().
  void sweep(const std::string& git_dir);

 private:
  struct Turn {
    bool taken = false;
    std::string what;                 // of the last refresh that succeeded
    SteadyClock::time_point began{};  // when that began
  };
  bool take_turn(const std::string& git_dir, const std::string& what, const Stop& stop);
  void end_turn(const std::string& git_dir, const std::string& what, SteadyClock::time_point began, bool succeeded);
  void remove_leftovers();
  void evict(std::int64_t max_bytes);

  std::string directory_;
  Log& log_;
  Guarded<std::map<std::string, Turn>> turns_;
};

}  // namespace forge::git
