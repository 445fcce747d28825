#include "orchestrator/store/migrations.h"

#include <filesystem>

#include "orchestrator/crypto/crypto.h"
#include "orchestrator/store/open_files.h"
#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr Migration kFirst{1, "0001_first", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;"};
constexpr Migration kSecond{2, "0002_second",
                            "ALTER TABLE notes ADD COLUMN size INTEGER NOT NULL DEFAULT 0; UPDATE notes SET size = length(text);"};
constexpr std::array kOld{kFirst};
constexpr std::array kNew{kFirst, kSecond};

class Migrations : public testing::Test {
 protected:
  Database open() { return Database(file_, Access::read_write, Durability::full); }
  /// A database as the first version left it, with a note in it.
  void make_old() {
    Database database = open();
    migrate(database, kOld, backup_, 1);
    database.execute("INSERT INTO notes (text) VALUES ('hello')");
  }

  test::TempDir directory_;
  std::string file_ = directory_.str() + "/x.db";
  std::string backup_ = directory_.str() + "/backup.db";
};

TEST_F(Migrations, MakeANewFileWithoutABackup) {
  Database database = open();
  EXPECT_EQ(check_schema(database, kNew).version, 0);
  migrate(database, kNew, backup_, 1);
  EXPECT_EQ(check_schema(database, kNew).version, 2);
  EXPECT_FALSE(std::filesystem::exists(backup_));
}

TEST_F(Migrations, UpgradeAnOldFileAndKeepACopyOfIt) {
  make_old();
  Database database = open();
  migrate(database, kNew, backup_, 2);
  Query query = database.query("SELECT size FROM notes");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.integer("size"), 5);
  Database copy(backup_, Access::read_write, Durability::full);
  EXPECT_EQ(copy.user_version(), 1);
  EXPECT_TRUE(copy.query("SELECT text FROM notes").step());
}

TEST_F(Migrations, DoNothingTheSecondTime) {
  make_old();
  Database database = open();
  migrate(database, kOld, backup_, 2);
  EXPECT_FALSE(std::filesystem::exists(backup_));
}

TEST_F(Migrations, LeaveTheVersionBeforeTheOneThatFailed) {
  make_old();
  const std::array broken{kFirst, kSecond,
                          Migration{3, "0003_broken", "CREATE TABLE more (id INTEGER) STRICT; INSERT INTO nowhere VALUES (1);"}};
  Database database = open();
  EXPECT_THAT(error_of([&] { migrate(database, broken, backup_, 2); }), HasSubstr("applying migration 0003_broken"));
  EXPECT_EQ(check_schema(database, broken).version, 2);
  EXPECT_FALSE(database.query("SELECT 1 FROM sqlite_schema WHERE name = 'more'").step());
}

TEST_F(Migrations, RefuseToLeaveRowsThatPointNowhere) {
  make_old();
  const std::array orphaning{
      kFirst, Migration{2, "0002_orphans", "CREATE TABLE tags (note INTEGER REFERENCES notes (id)) STRICT; INSERT INTO tags VALUES (99);"}};
  Database database = open();
  EXPECT_THAT(error_of([&] { migrate(database, orphaning, backup_, 2); }), HasSubstr("point nowhere"));
  EXPECT_EQ(database.user_version(), 1);
}

TEST_F(Migrations, RefuseANewerFile) {
  make_old();
  Database database = open();
  database.execute("PRAGMA user_version = 7");
  EXPECT_EQ(error_of([&] { migrate(database, kNew, backup_, 2); }),
            "unsupported: database is version 7, this forge knows 2: use the newer forge");
}

TEST_F(Migrations, RefuseAnEditedStep) {
  make_old();
  const std::array edited{Migration{1, "0001_first", "CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT;"}, kSecond};
  Database database = open();
  EXPECT_EQ(error_of([&] { migrate(database, edited, backup_, 2); }),
            "unsupported: database was made with another text of migration 0001_first: use the forge that made it");
  EXPECT_EQ(database.user_version(), 1);
}

TEST_F(Migrations, RefuseARecordThatDoesNotFitTheVersion) {
  make_old();
  Database database = open();
  database.execute("DELETE FROM migrations");
  EXPECT_THAT(error_of([&] { check_schema(database, kNew); }), StartsWith("corrupt"));
}

TEST_F(Migrations, RefuseADatabaseOfSomebodyElse) {
  Database database = open();
  database.execute("CREATE TABLE theirs (id INTEGER)");
  EXPECT_THAT(error_of([&] { migrate(database, kNew, backup_, 2); }), HasSubstr("is not a database of Forge"));
}

TEST(ReleasedMigrations, AreNumberedWithoutHoles) {
  for (const auto known : {main_migrations(), trace_migrations()}) {
    int version = 0;
    for (const Migration& migration : known) EXPECT_EQ(migration.version, ++version) << migration.name;
  }
}

TEST(ReleasedMigrations, KeepTheRunsOfTheFirstVersion) {
  const test::TempDir directory;
  Database database(directory.str() + "/x.db", Access::read_write, Durability::full);
  migrate(database, main_migrations().first(1), directory.str() + "/backup.db", 1);
  database.execute(
      "INSERT INTO jobs (id, repository, spec, created_by, created_ms, state, last_run) VALUES ('j', 'r', '{}', 'anna', 1, 'failed', 1);");
  database.execute("INSERT INTO runs (id, job_id, number, state, reason, created_ms) VALUES ('r', 'j', 1, 'failed', 'timeout', 1);");
  migrate(database, main_migrations(), directory.str() + "/backup.db", 2);
  Query query = database.query("SELECT reason, agent_session, agent_session_blob, reported_cost_nano_usd FROM runs");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.text("reason"), "timeout");
  EXPECT_EQ(query.text("agent_session"), "");
  EXPECT_EQ(query.text("agent_session_blob"), "");
  EXPECT_TRUE(query.is_null("reported_cost_nano_usd"));
}

TEST(ReleasedMigrations, SayOfTheRunsOfTheSecondVersionWhatTheyAreAndWhichWaitForReview) {
  const test::TempDir directory;
  Database database(directory.str() + "/x.db", Access::read_write, Durability::full);
  migrate(database, main_migrations().first(2), directory.str() + "/backup.db", 1);
  database.execute(R"sql(
      INSERT INTO jobs (id, repository, spec, created_by, created_ms, state, last_run) VALUES ('j', 'r', '{}', 'anna', 1, 'queued', 6);
      INSERT INTO runs (id, job_id, number, state, reason, head_commit, created_ms)
      VALUES ('r1', 'j', 1, 'succeeded', 'completed', 'c1', 1), ('r2', 'j', 2, 'failed', 'stuck', 'c2', 1),
             ('r3', 'j', 3, 'failed', 'timeout', '', 1), ('r4', 'j', 4, 'cancelled', 'cancelled', 'c4', 1),
             ('r5', 'j', 5, 'no_changes', 'no_changes', '', 1), ('r6', 'j', 6, 'queued', NULL, '', 1);
  )sql");
  migrate(database, main_migrations(), directory.str() + "/backup.db", 2);
  Query query = database.query("SELECT kind || ' ' || review AS said, from_run, note, brief, request_key FROM runs ORDER BY id");
  std::vector<std::string> said;
  while (query.step()) {
    said.push_back(query.text("said"));
    EXPECT_EQ(query.integer("from_run"), 0);
    EXPECT_EQ(query.text("note") + query.text("brief") + query.text("request_key"), "");
  }
  EXPECT_THAT(said, testing::ElementsAre("first waiting", "retry waiting", "retry none", "retry none", "retry none", "retry none"));
}

// A released step is never edited: databases out there were made with exactly this text. A change belongs in a new step.
TEST(ReleasedMigrations, AreTheOnesThatWereReleased) {
  constexpr std::string_view kMain = "6fd01e13125ea7944b9742c314fd31aef76e960b142009204bb2c5345f0853ac";
  constexpr std::string_view kTrace = "e37ca404b8d7f27d0d26b4d87e1ca6579604abf0486d7d8d85cc08a35b2688f1";
  EXPECT_EQ(crypto::sha256_hex(main_migrations()[0].sql), kMain);
  EXPECT_EQ(crypto::sha256_hex(trace_migrations()[0].sql), kTrace);
}

}  // namespace
}  // namespace forge::store
