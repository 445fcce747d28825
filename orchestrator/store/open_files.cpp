#include "orchestrator/store/open_files.h"

#include <filesystem>

#include "orchestrator/base/error.h"
#include "orchestrator/store/blobs.h"

namespace forge::store {
namespace {

/// Before anything is read for use: a damaged file must stop the start, not one request in a hundred.
void check_structure(Database& database) {
  doing("checking " + database.path(), [&] {
    const std::string finding = database.quick_check();
    if (!finding.empty()) throw Error(ErrorCode::corrupt, "the database is damaged: " + finding);
  });
}

std::string backup_path(const std::string& directory, const Database& database, int version, std::int64_t now_ms) {
  const std::string name = std::filesystem::path(database.path()).stem().string();
  return directory + "/backups/" + name + "-v" + std::to_string(version) + "-" + std::to_string(now_ms) + ".db";
}

/// Events belong to jobs: forge.db is made first and never goes alone, unless it was lost. A new one in its place would look as if nothing
/// had ever been done here.
void refuse_lost_jobs(const SchemaState& main, const SchemaState& trace, const std::string& directory) {
  if (main.version > 0 || trace.version == 0) return;
  throw public_failure(ErrorCode::corrupt, main_path(directory) + " is empty or new, but " + trace_path(directory) +
                                               " holds the events of earlier jobs: forge.db was lost")
      .with_hint("put a copy of forge.db back (older ones are in " + directory + "/backups), or move trace.db away to begin anew");
}

void bring_up_to_date(Database& database, std::span<const Migration> known, const std::string& directory, const Clock& clock, Log& log) {
  const SchemaState state = check_schema(database, known);
  if (state.version == state.known) return;
  const std::string backup = backup_path(directory, database, state.version, clock.now_ms());
  migrate(database, known, backup, clock.now_ms());
  if (state.version == 0) return;
  log.info("database migrated", {{"file", database.path()}, {"from", state.version}, {"to", state.known}, {"backup", backup}});
}

void warn_of_open_directory(const std::string& directory, Log& log) {
  using std::filesystem::perms;
  const perms others = std::filesystem::status(directory).permissions() & (perms::group_all | perms::others_all);
  // Left as it is: somebody else made it, perhaps for more than Forge. The files in it are private all the same.
  if (others != perms::none) log.warn("the data directory is open to other users", {{"directory", directory}});
}

}  // namespace

std::string main_path(const std::string& directory) { return directory + "/forge.db"; }
std::string trace_path(const std::string& directory) { return directory + "/trace.db"; }

OpenFiles open_files(const std::string& directory, std::span<const Migration> main_known, std::span<const Migration> trace_known,
                     const Clock& clock, Log& log) {
  const std::filesystem::path parent = std::filesystem::path(directory).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent);
  make_private_directory(directory);
  make_private_directory(directory + "/backups");
  warn_of_open_directory(directory, log);
  OpenFiles files{.main = std::make_unique<Database>(main_path(directory), Access::read_write, Durability::full),
                  .trace = std::make_unique<Database>(trace_path(directory), Access::read_write, Durability::normal)};
  for (Database* database : {files.main.get(), files.trace.get()}) check_structure(*database);
  const SchemaState main_state = check_schema(*files.main, main_known);
  refuse_lost_jobs(main_state, check_schema(*files.trace, trace_known), directory);
  bring_up_to_date(*files.main, main_known, directory, clock, log);
  bring_up_to_date(*files.trace, trace_known, directory, clock, log);
  return files;
}

}  // namespace forge::store
