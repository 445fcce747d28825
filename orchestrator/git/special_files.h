#pragma once

#include <string>

#include "orchestrator/base/stop.h"

namespace forge::git {

/// Looks at all that libgit2 may open of the repository at `repository` (a work tree or a git directory) and opens none of it: reading a
/// FIFO or a device can wait for ever, inside a call that no Stop ends. Links are followed, as are the files that name other places: a .git
/// file, commondir, alternates, included configuration. Throws invalid_argument for what is no plain file and for more entries than a
/// repository has; cancelled, timed_out. What is missing or cannot be read is left to libgit2's own errors. Holds for what was there when
/// it was looked at: whoever owns the repository can exchange it.
void refuse_special_files(const std::string& repository, const Stop& stop);

/// The same for one file that libgit2 is about to read, such as an ignore file of the work tree.
void refuse_special_file(const std::string& path);

}  // namespace forge::git
