#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "orchestrator/store/database.h"

namespace forge::store {

/// One numbered step of a schema. Versions are 1, 2, 3, ... without holes; the text is never edited after a release.
struct Migration {
  int version = 0;
  std::string_view name;  ///< of the file, without its ending
  std::string_view sql;
};

/// The steps of forge.db and of trace.db, embedded at build time.
std::span<const Migration> main_migrations();
std::span<const Migration> trace_migrations();

/// What a file needs: nothing, a new schema, or an upgrade.
struct SchemaState {
  int version = 0;  ///< of the file; 0 = empty
  int known = 0;    ///< of this program
};

/// Reads only. Throws unsupported for a newer file or one with an edited migration, corrupt when the file is not Forge's.
SchemaState check_schema(Database& database, std::span<const Migration> known);

/// Brings the file to the newest version, each step in a transaction of its own: what failed leaves the version before it.
/// A file that is not empty is copied to `backup_path` first.
void migrate(Database& database, std::span<const Migration> known, const std::string& backup_path, std::int64_t now_ms);

}  // namespace forge::store
