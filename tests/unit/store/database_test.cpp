#include "orchestrator/store/database.h"

#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class OneDatabase : public testing::Test {
 protected:
  test::TempDir directory_;
  std::string path_ = directory_.str() + "/x.db";
  Database database_{path_, Access::read_write, Durability::full};
};

TEST_F(OneDatabase, BindsAndReadsEachKindOfValue) {
  database_.execute("CREATE TABLE t (a INTEGER, b TEXT, c INTEGER, d TEXT) STRICT");
  database_.query("INSERT INTO t VALUES (:a, :b, :c, :d)")
      .bind(":a", std::int64_t{1} << 40)
      .bind(":b", std::string("x\0y", 3))
      .bind(":c", std::optional<std::int64_t>())
      .bind(":d", std::optional<std::string>())
      .run();
  Query query = database_.query("SELECT * FROM t");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.integer("a"), std::int64_t{1} << 40);
  EXPECT_EQ(query.text("b"), std::string("x\0y", 3));
  EXPECT_TRUE(query.is_null("c"));
  EXPECT_EQ(query.optional_integer("c"), std::nullopt);
  EXPECT_EQ(query.text("d"), "");
  EXPECT_FALSE(query.step());
}

TEST_F(OneDatabase, KeepsBytesThatAreNoText) {
  database_.execute("CREATE TABLE t (a BLOB NOT NULL) STRICT");
  const auto insert = [&](std::string_view bytes) { database_.query("INSERT INTO t VALUES (:a)").bind_bytes(":a", bytes).run(); };
  insert(std::string_view("\xff\0y", 3));
  insert({});
  Query query = database_.query("SELECT a FROM t ORDER BY a");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.text("a"), "");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.text("a"), std::string("\xff\0y", 3));
}

TEST_F(OneDatabase, RefusesANestedUseOfOneStatement) {
  const auto use = [&] { return database_.query("SELECT 1 AS n"); };
  Query outer = use();
  EXPECT_THAT(error_of([&] { use(); }), StartsWith("internal: statement is already in use"));
}

TEST_F(OneDatabase, SaysWhatSqliteSaid) {
  database_.execute("CREATE TABLE t (a INTEGER NOT NULL UNIQUE) STRICT");
  database_.execute("INSERT INTO t VALUES (1)");
  EXPECT_EQ(error_of([&] { database_.execute("INSERT INTO t VALUES (1)"); }), "conflict: database: UNIQUE constraint failed: t.a");
  EXPECT_EQ(error_of([&] { database_.execute("NONSENSE"); }), "internal: database: near \"NONSENSE\": syntax error");
  EXPECT_THAT(error_of([&] { database_.execute("INSERT INTO t VALUES ('x')"); }), StartsWith("conflict"));  // STRICT
}

TEST_F(OneDatabase, RollsBackATransactionThatWasNotCommitted) {
  database_.execute("CREATE TABLE t (a INTEGER) STRICT");
  {
    const Transaction transaction(database_);
    database_.execute("INSERT INTO t VALUES (1)");
    EXPECT_TRUE(database_.in_transaction());
  }
  EXPECT_FALSE(database_.in_transaction());
  EXPECT_FALSE(database_.query("SELECT 1 FROM t").step());
}

TEST_F(OneDatabase, IsReadOnlyWhereAskedTo) {
  database_.execute("CREATE TABLE t (a INTEGER) STRICT");
  Database reader(path_, Access::read_only, Durability::full);
  EXPECT_THAT(error_of([&] { reader.execute("INSERT INTO t VALUES (1)"); }), StartsWith("unavailable"));
  EXPECT_THAT(error_of([&] { Database(directory_.str() + "/none.db", Access::read_only, Durability::full); }), HasSubstr("none.db"));
}

TEST_F(OneDatabase, IsBusyForASecondWriter) {
  const Transaction transaction(database_);
  Database second(path_, Access::read_write, Durability::full);
  second.execute("PRAGMA busy_timeout = 1");
  EXPECT_THAT(error_of([&] { second.begin(); }), StartsWith("busy"));
}

TEST_F(OneDatabase, ChecksPointersAndKeepsCheckpointsToItself) {
  database_.execute("CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT; CREATE TABLE b (a INTEGER REFERENCES a (id)) STRICT");
  EXPECT_THAT(error_of([&] { database_.execute("INSERT INTO b VALUES (1)"); }), StartsWith("conflict"));
  for (Database* each : {&database_}) {
    Query query = each->query("PRAGMA wal_autocheckpoint");
    query.step();
    EXPECT_EQ(query.integer("wal_autocheckpoint"), 0);
  }
}

TEST_F(OneDatabase, EmptiesItsLogUnlessAReaderIsInTheWay) {
  database_.execute("CREATE TABLE t (a INTEGER) STRICT");
  EXPECT_GT(database_.wal_pages(), 0);
  Database reader(path_, Access::read_only, Durability::full);
  {
    const Transaction snapshot(reader);
    EXPECT_FALSE(reader.query("SELECT 1 FROM t").step());
    database_.execute("INSERT INTO t VALUES (1)");
    EXPECT_FALSE(database_.checkpoint(Checkpoint::truncate));
  }
  EXPECT_TRUE(database_.checkpoint(Checkpoint::truncate));
  EXPECT_EQ(std::filesystem::file_size(path_ + "-wal"), 0u);
}

TEST_F(OneDatabase, SyncsItsLogOnDemand) {
  Database fast(directory_.str() + "/fast.db", Access::read_write, Durability::normal);
  fast.sync_log();  // nothing was committed yet
  fast.execute("CREATE TABLE t (a INTEGER) STRICT");
  fast.sync_log();
  EXPECT_EQ(fast.quick_check(), "");
}

}  // namespace
}  // namespace forge::store
