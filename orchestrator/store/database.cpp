#include "orchestrator/store/database.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <unordered_map>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"

namespace forge::store {
namespace {

// Writers never collide (there is one), so this is met only by a reader during recovery or by a foreign process.
constexpr int kBusyTimeoutMs = 10'000;
// A truncating checkpoint is tried again at the next idle moment; waiting longer would hold up writers for a slow reader.
constexpr int kTruncateTimeoutMs = 50;

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::busy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::corrupt;
    case SQLITE_CONSTRAINT: return ErrorCode::conflict;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY: return ErrorCode::unavailable;
    case SQLITE_PERM:
    case SQLITE_AUTH: return ErrorCode::permission_denied;
    case SQLITE_TOOBIG: return ErrorCode::limit_exceeded;
    default: return ErrorCode::internal;
  }
}

/// Runs `body`; SQLite's exception becomes ours, with its own text.
template <typename Body>
decltype(auto) translated(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const SQLite::Exception& e) {
    throw Error(code_of(e.getErrorCode()), std::string("database: ") + e.what());
  }
}

Error failure_of(sqlite3* handle, int code) {
  return Error(code_of(code), std::string("database: ") + (handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code)));
}

/// SQLite makes its files readable by the group; the log and the shared index take their mode from the main file.
void make_private_file(const std::string& path) {
  const UniqueFd file = checked_fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), "opening " + path);
  checked(::fchmod(file.get(), 0600), "setting the mode of " + path);
}

int count_pages(void* pages, sqlite3*, const char*, int in_log) {
  *static_cast<int*>(pages) = in_log;
  return SQLITE_OK;
}

}  // namespace

Query::Query(SQLite::Statement& statement, bool& in_use) : statement_(statement), in_use_(in_use) {
  if (in_use_) throw Error(ErrorCode::internal, "statement is already in use: " + statement_.getQuery());
  in_use_ = true;
}

Query::~Query() {
  statement_.tryReset();
  in_use_ = false;
}

Query& Query::bind(const char* name, std::int64_t value) {
  translated([&] { statement_.bind(name, value); });
  return *this;
}

Query& Query::bind(const char* name, std::string_view value) {
  translated([&] { statement_.bind(name, std::string(value)); });
  return *this;
}

Query& Query::bind_bytes(const char* name, std::string_view value) {
  // A null pointer would be bound as NULL, also with no bytes behind it.
  const char* data = value.data() != nullptr ? value.data() : "";
  translated([&] { statement_.bind(name, static_cast<const void*>(data), static_cast<int>(value.size())); });
  return *this;
}

Query& Query::bind(const char* name, const std::optional<std::int64_t>& value) {
  if (value) return bind(name, *value);
  translated([&] { statement_.bind(name); });
  return *this;
}

Query& Query::bind(const char* name, const std::optional<std::string>& value) {
  if (value) return bind(name, std::string_view(*value));
  translated([&] { statement_.bind(name); });
  return *this;
}

bool Query::step() {
  return translated([&] { return statement_.executeStep(); });
}

int Query::run() {
  return translated([&] {
    while (statement_.executeStep()) {
    }
    return statement_.getChanges();
  });
}

std::int64_t Query::integer(const char* column) {
  return translated([&] { return statement_.getColumn(column).getInt64(); });
}

std::string Query::text(const char* column) {
  return translated([&] { return statement_.getColumn(column).getString(); });
}

bool Query::is_null(const char* column) {
  return translated([&] { return statement_.getColumn(column).isNull(); });
}

std::optional<std::int64_t> Query::optional_integer(const char* column) {
  if (is_null(column)) return {};
  return integer(column);
}

struct Database::Connection {
  struct Prepared {
    Prepared(const SQLite::Database& database, const char* sql) : statement(database, sql) {}
    SQLite::Statement statement;
    bool in_use = false;
  };

  Connection(const std::string& path, int flags) : sqlite(path, flags, kBusyTimeoutMs) {}
  sqlite3* handle() const { return sqlite.getHandle(); }

  SQLite::Database sqlite;
  Access access = Access::read_only;
  int wal_pages = 0;
  // Keyed by the literal's address: two spellings of one text are two statements, which only costs memory.
  std::unordered_map<const char*, std::unique_ptr<Prepared>> prepared;
};

Database::Database(const std::string& path, Access access, Durability durability) : path_(path) {
  if (access == Access::read_write) make_private_file(path);
  const int flags = access == Access::read_write ? SQLite::OPEN_READWRITE : SQLite::OPEN_READONLY;
  doing("opening " + path, [&] {
    translated([&] { connection_ = std::make_unique<Connection>(path, flags | SQLite::OPEN_NOMUTEX); });
    connection_->access = access;
    if (access == Access::read_write) {
      execute("PRAGMA journal_mode = WAL");
      if (durability == Durability::full) execute("PRAGMA synchronous = FULL");
      if (durability == Durability::normal) execute("PRAGMA synchronous = NORMAL");
    }
    // Checkpoints are the writer's alone: SQLite before 3.51.3 can lose data when one connection moves the log while another commits.
    execute("PRAGMA wal_autocheckpoint = 0");
    execute("PRAGMA foreign_keys = ON");
    execute("PRAGMA temp_store = MEMORY");
  });
  sqlite3_wal_hook(connection_->handle(), count_pages, &connection_->wal_pages);
}

Database::~Database() = default;

Query Database::use(const char* sql) {
  auto& prepared = connection_->prepared[sql];
  if (!prepared) {
    translated([&] { prepared = std::make_unique<Connection::Prepared>(connection_->sqlite, sql); });
  }
  return Query(prepared->statement, prepared->in_use);
}

void Database::run_script(const std::string& sql) {
  translated([&] { connection_->sqlite.exec(sql); });
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(connection_->handle()) == 0; }

void Database::begin() {
  if (connection_->access == Access::read_write) {
    query("BEGIN IMMEDIATE").run();
  } else {
    query("BEGIN").run();
  }
}

void Database::commit() { query("COMMIT").run(); }

bool Database::rollback() noexcept {
  return !in_transaction() || sqlite3_exec(connection_->handle(), "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK;
}

int Database::user_version() {
  Query version = query("PRAGMA user_version");
  version.step();
  return static_cast<int>(version.integer("user_version"));
}

std::string Database::quick_check() {
  Query check = query("PRAGMA quick_check(1)");
  check.step();
  const std::string finding = check.text("quick_check");
  return finding == "ok" ? "" : finding;
}

void Database::backup_to(const std::string& path) {
  make_private_file(path);
  translated([&] {
    SQLite::Database target(path, SQLite::OPEN_READWRITE);
    SQLite::Backup backup(target, connection_->sqlite);
    backup.executeStep(-1);
    // The copy inherits WAL mode; a backup should be one file.
    target.exec("PRAGMA journal_mode = DELETE");
  });
}

int Database::wal_pages() const { return connection_->wal_pages; }

bool Database::checkpoint(Checkpoint kind) {
  const bool truncate = kind == Checkpoint::truncate;
  sqlite3* handle = connection_->handle();
  if (truncate) sqlite3_busy_timeout(handle, kTruncateTimeoutMs);
  int in_log = 0;
  int moved = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(handle, "main", truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
  if (truncate) sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  if (code == SQLITE_BUSY) return false;
  if (code != SQLITE_OK) throw failure_of(handle, code);
  if (in_log == moved) connection_->wal_pages = 0;
  return in_log == moved;
}

void Database::sync_log() {
  sqlite3_file* log = nullptr;
  int code = sqlite3_file_control(connection_->handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  // No methods: the log was not opened yet, so nothing was committed through this connection.
  if (code == SQLITE_OK && log != nullptr && log->pMethods != nullptr) code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) throw failure_of(nullptr, code);
}

}  // namespace forge::store
