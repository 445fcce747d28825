#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace SQLite {
class Statement;
}

namespace forge::store {

/// One use of a prepared statement: bind everything, then step. The destructor resets it, so that no read stays open.
/// Must not outlive its Database; a statement is in one use at a time.
class Query {
 public:
  Query(SQLite::Statement& statement, bool& in_use);
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  Query& bind(const char* name, std::int64_t value);
  Query& bind(const char* name, std::string_view value);
  Query& bind(const char* name, const std::optional<std::int64_t>& value);
  Query& bind(const char* name, const std::optional<std::string>& value);
  /// As a BLOB: paths and contents, which need not be UTF-8. text() reads them back as they were.
  Query& bind_bytes(const char* name, std::string_view value);
  Query& bind(const char* name, const char* value) { return bind(name, std::string_view(value)); }
  Query& bind(const char* name, const std::string& value) { return bind(name, std::string_view(value)); }
  Query& bind(const char* name, int value) { return bind(name, std::int64_t{value}); }
  Query& bind(const char* name, bool value) { return bind(name, std::int64_t{value ? 1 : 0}); }

  /// True when there is a row.
  bool step();
  /// Steps to the end; the number of rows that were changed.
  int run();

  std::int64_t integer(const char* column);
  std::string text(const char* column);
  bool is_null(const char* column);
  std::optional<std::int64_t> optional_integer(const char* column);

 private:
  SQLite::Statement& statement_;
  bool& in_use_;
};

enum class Access { read_write, read_only };
/// What a commit waits for: `full` survives a power cut; `normal` survives the death of the process, and after a power cut the file
/// is whole but its last commits may be missing.
enum class Durability { full, normal };
enum class Checkpoint { passive, truncate };

/// One connection to one SQLite file in WAL mode. Belongs to one thread at a time. Errors: busy, corrupt, conflict (a constraint),
/// unavailable (disk full, I/O), internal.
class Database {
 public:
  /// read_write makes the file, with mode 0600, when there is none. Throws corrupt when it is not a database.
  Database(const std::string& path, Access access, Durability durability);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// SQL is trusted as a literal only; prepared once per connection.
  template <std::size_t N>
  Query query(const char (&sql)[N]) {
    return use(sql);
  }
  template <std::size_t N>
  void execute(const char (&sql)[N]) {
    run_script(sql);
  }
  /// Text of a migration, or a statement with a number in it that SQLite cannot bind.
  void run_script(const std::string& sql);

  bool in_transaction() const;
  /// Takes the write lock (read_write) or a snapshot at the first read (read_only).
  void begin();
  void commit();
  /// Safe when there is nothing to roll back; false when SQLite refused.
  bool rollback() noexcept;

  int user_version();
  /// What is wrong with the file's structure, or "" when nothing is.
  std::string quick_check();
  /// Copies the committed content into a new file `path`, mode 0600.
  void backup_to(const std::string& path);

  /// Pages in the write-ahead log after the last commit of this connection.
  int wal_pages() const;
  /// Moves the log into the file; `truncate` also empties the log and gives up soon when a reader is in the way.
  /// True when everything was moved.
  bool checkpoint(Checkpoint kind);
  /// Makes all earlier commits of this file durable, for a connection with Durability::normal.
  void sync_log();

  const std::string& path() const { return path_; }

 private:
  struct Connection;
  Query use(const char* sql);
  std::string path_;
  std::unique_ptr<Connection> connection_;
};

/// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.begin(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (!done_) database_.rollback();
  }
  void commit() {
    database_.commit();
    done_ = true;
  }

 private:
  Database& database_;
  bool done_ = false;
};

}  // namespace forge::store
