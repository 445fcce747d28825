#pragma once

#include <memory>
#include <span>
#include <string>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/log.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/migrations.h"

namespace forge::store {

std::string main_path(const std::string& directory);
std::string trace_path(const std::string& directory);

/// The writer's connections.
struct OpenFiles {
  std::unique_ptr<Database> main;
  std::unique_ptr<Database> trace;
};

/// Makes the directory and both files when they are missing, checks them, and migrates older ones, with a copy of each in backups/.
/// Nothing is changed when one of them is newer or damaged, or when forge.db is empty and trace.db is not. Throws corrupt, unsupported.
OpenFiles open_files(const std::string& directory, std::span<const Migration> main_known, std::span<const Migration> trace_known,
                     const Clock& clock, Log& log);

}  // namespace forge::store
