#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"

namespace forge::adapters::claude_code {

/// Where the program is kept: `<folder>/<version>/claude` is a link to the executable of this machine.
struct Home {
  std::string folder;  ///< <data>/adapters/claude-code

  std::string version_folder() const;
  /// The executable of the pinned version, whether it is there or not.
  std::string program() const;
  bool installed() const;
};

struct Npm {
  std::string program;                   ///< absolute; empty when this machine has none
  std::vector<std::string> environment;  ///< "NAME=value": the user's own settings of npm are read through it
};

/// npm as the PATH of `environment` finds it.
Npm find_npm(const std::vector<std::string>& environment);

/// Installs the pinned version by npm from an embedded lock, without running any script of a package: aside, looked at, then put in its
/// place by one rename, so that there is a whole installation or none. False when it was there. `tell` hears what goes on.
/// Throws unavailable (no npm, the registry cannot be reached, the program does not run here: with what to do), conflict (another
/// installation is under way), cancelled.
bool install(const Home& home, const Npm& npm, const std::function<void(const std::string&)>& tell, const Stop& stop);

/// Removes every version. False when there was none.
bool uninstall(const Home& home);

/// What `program` says of its version ("2.1.332"), run without any environment. Throws unavailable, with the reason.
std::string version_of(const std::string& program, const Stop& stop);

}  // namespace forge::adapters::claude_code
