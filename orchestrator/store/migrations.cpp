#include "orchestrator/store/migrations.h"

#include <embedded/main_0001_initial.h>
#include <embedded/main_0002_agent_session.h>
#include <embedded/main_0003_reviews.h>
#include <embedded/trace_0001_initial.h>
#include <fmt/format.h>

#include <array>

#include "orchestrator/base/error.h"
#include "orchestrator/crypto/crypto.h"

namespace forge::store {
namespace {

constexpr std::array kMainMigrations{Migration{1, "0001_initial", embedded::main_0001_initial},
                                     Migration{2, "0002_agent_session", embedded::main_0002_agent_session},
                                     Migration{3, "0003_reviews", embedded::main_0003_reviews}};
constexpr std::array kTraceMigrations{Migration{1, "0001_initial", embedded::trace_0001_initial}};

bool has_tables(Database& database) {
  Query query = database.query("SELECT count(*) AS n FROM sqlite_schema");
  query.step();
  return query.integer("n") > 0;
}

/// What was applied must be what we would apply: otherwise the schema is not the one that the SQL of this program expects.
void check_applied(Database& database, std::span<const Migration> known, int version) {
  Query query = database.query("SELECT version, name, sha256 FROM migrations ORDER BY version");
  int expected = 0;
  while (query.step()) {
    ++expected;
    if (query.integer("version") != expected || expected > version) {
      throw Error(ErrorCode::corrupt, database.path() + ": the table of migrations does not match version " + std::to_string(version));
    }
    const Migration& migration = known[static_cast<std::size_t>(expected - 1)];
    if (query.text("sha256") != crypto::sha256_hex(migration.sql)) {
      throw public_failure(ErrorCode::unsupported,
                           fmt::format("database was made with another text of migration {}: use the forge that made it", migration.name));
    }
  }
  if (expected != version)
    throw Error(ErrorCode::corrupt, fmt::format("{}: {} of {} migrations recorded", database.path(), expected, version));
}

void apply(Database& database, const Migration& migration, std::int64_t now_ms) {
  Transaction transaction(database);
  // Of this program rather than of a migration: it must stand before the first one can be recorded.
  database.execute(R"sql(
      CREATE TABLE IF NOT EXISTS migrations (
        version    INTEGER NOT NULL PRIMARY KEY,
        name       TEXT    NOT NULL,  -- of the file, without its ending
        sha256     TEXT    NOT NULL,  -- of the text as it was applied
        applied_ms INTEGER NOT NULL
      ) STRICT
  )sql");
  database.run_script(std::string(migration.sql));
  database.query("INSERT INTO migrations (version, name, sha256, applied_ms) VALUES (:version, :name, :sha256, :now)")
      .bind(":version", migration.version)
      .bind(":name", migration.name)
      .bind(":sha256", crypto::sha256_hex(migration.sql))
      .bind(":now", now_ms)
      .run();
  {
    Query broken = database.query("SELECT count(*) AS n FROM pragma_foreign_key_check");
    broken.step();
    if (broken.integer("n") > 0) throw Error(ErrorCode::corrupt, "it leaves rows that point nowhere");
  }
  database.run_script("PRAGMA user_version = " + std::to_string(migration.version));
  transaction.commit();
}

}  // namespace

std::span<const Migration> main_migrations() { return kMainMigrations; }
std::span<const Migration> trace_migrations() { return kTraceMigrations; }

SchemaState check_schema(Database& database, std::span<const Migration> known) {
  SchemaState state{.version = database.user_version(), .known = static_cast<int>(known.size())};
  if (state.version > state.known) {
    throw public_failure(ErrorCode::unsupported,
                         fmt::format("database is version {}, this forge knows {}: use the newer forge", state.version, state.known));
  }
  if (state.version == 0) {
    if (has_tables(database)) throw Error(ErrorCode::corrupt, database.path() + " is not a database of Forge");
    return state;
  }
  check_applied(database, known, state.version);
  return state;
}

void migrate(Database& database, std::span<const Migration> known, const std::string& backup_path, std::int64_t now_ms) {
  const SchemaState state = check_schema(database, known);
  if (state.version == state.known) return;
  if (state.version > 0) doing("backing up to " + backup_path, [&] { database.backup_to(backup_path); });
  // Rebuilding a table that others point to needs the checks off; apply() checks all of them before its commit.
  database.execute("PRAGMA foreign_keys = OFF");
  for (const Migration& migration : known.subspan(static_cast<std::size_t>(state.version)))
    doing(fmt::format("applying migration {} to {}", migration.name, database.path()), [&] { apply(database, migration, now_ms); });
  database.execute("PRAGMA foreign_keys = ON");
}

}  // namespace forge::store
