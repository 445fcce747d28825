#include "orchestrator/store/writer.h"

#include <atomic>
#include <future>

#include "orchestrator/store/migrations.h"
#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using testing::StartsWith;

class GroupCommit : public testing::Test {
 protected:
  GroupCommit() {
    auto main = std::make_unique<Database>(path("main.db"), Access::read_write, Durability::full);
    auto trace = std::make_unique<Database>(path("trace.db"), Access::read_write, Durability::normal);
    main->execute("CREATE TABLE notes (n INTEGER PRIMARY KEY) STRICT");
    writer_ = std::make_unique<Writer>(std::move(main), std::move(trace), clock_, *log_);
  }
  std::string path(const char* name) const { return directory_.str() + "/" + name; }
  void insert(int n) {
    writer_->write([&](WriteScope& scope) { scope.main.query("INSERT INTO notes (n) VALUES (:n)").bind(":n", n).run(); });
  }
  int count() {
    Database reader(path("main.db"), Access::read_only, Durability::full);
    Query query = reader.query("SELECT count(*) AS n FROM notes");
    query.step();
    return static_cast<int>(query.integer("n"));
  }
  /// Runs `operation(0..count-1)` on threads of their own. The writer is held up until all have started, so that most meet in one batch.
  template <typename Operation>
  void in_one_batch(int count, Operation&& operation) {
    std::promise<void> all_wait;
    std::atomic<int> entered = 0;
    // It may fail with its batch.
    std::jthread holder([&] { error_of([&] { writer_->write([&](WriteScope&) { all_wait.get_future().wait(); }); }); });
    on_threads(count, [&](int i) {
      if (++entered == count) all_wait.set_value();
      operation(i);
    });
  }

  test::TempDir directory_;
  test::FakeClock clock_;
  std::unique_ptr<Log> log_ = make_null_log();
  std::unique_ptr<Writer> writer_;
};

TEST_F(GroupCommit, UndoesAnOperationThatThrowsAndNoOther) {
  std::atomic<int> failed = 0;
  in_one_batch(20, [&](int i) {
    const std::string error = error_of([&] {
      writer_->write([&](WriteScope& scope) {
        scope.main.query("INSERT INTO notes (n) VALUES (:n)").bind(":n", i).run();
        if (i % 4 == 0) throw Error(ErrorCode::busy, "changed my mind");
      });
    });
    EXPECT_EQ(error, i % 4 == 0 ? "busy: changed my mind" : "no error");
    if (error != "no error") ++failed;
  });
  EXPECT_EQ(failed, 5);
  EXPECT_EQ(count(), 15);
}

TEST_F(GroupCommit, ReportsAConstraintToItsCallerOnly) {
  insert(1);
  std::atomic<int> conflicts = 0;
  in_one_batch(10, [&](int i) {
    const std::string error = error_of([&] { insert(i); });
    if (error.starts_with("conflict")) ++conflicts;
  });
  EXPECT_EQ(conflicts, 1);
  EXPECT_EQ(count(), 10);
}

TEST_F(GroupCommit, FailsTheWholeBatchWhenTheTransactionIsLost) {
  insert(1);
  std::atomic<int> lost = 0;
  in_one_batch(6, [&](int i) {
    const std::string error = error_of([&] {
      writer_->write([&](WriteScope& scope) {
        scope.main.query("INSERT INTO notes (n) VALUES (:n)").bind(":n", 100 + i).run();
        // What SQLite does by itself on a full disk.
        if (i == 3) {
          scope.main.rollback();
          throw Error(ErrorCode::unavailable, "disk full");
        }
      });
    });
    if (error == "unavailable: disk full") ++lost;
  });
  EXPECT_GE(lost, 1);
  EXPECT_EQ(count(), 1 + 6 - lost);  // what was not lost was committed, and nothing in between
  insert(2);                         // the writer goes on
  EXPECT_EQ(count(), 1 + 6 - lost + 1);
}

TEST_F(GroupCommit, ReturnsTheResultOfTheOperation) {
  EXPECT_EQ(writer_->write([](WriteScope&) { return std::string("x"); }), "x");
}

TEST_F(GroupCommit, FinishesWhatWaitsBeforeItCloses) {
  std::vector<std::jthread> callers;
  callers.reserve(4);
  std::promise<void> go;
  std::jthread holder([&] { writer_->write([&](WriteScope&) { go.get_future().wait(); }); });
  for (int i = 0; i < 4; ++i) callers.emplace_back([&, i] { insert(i); });
  go.set_value();
  holder.join();
  callers.clear();
  writer_.reset();
  EXPECT_EQ(count(), 4);
}

TEST_F(GroupCommit, MovesTheLogIntoTheFileWhenItGrows) {
  writer_->write([](WriteScope& scope) { scope.main.execute("CREATE TABLE bulk (data TEXT NOT NULL) STRICT"); });
  for (int i = 0; i < 8; ++i) {
    writer_->write([](WriteScope& scope) {
      for (int n = 0; n < 200; ++n) scope.main.query("INSERT INTO bulk (data) VALUES (:data)").bind(":data", std::string(4000, 'x')).run();
    });
  }
  writer_->write([](WriteScope& scope) { EXPECT_LT(scope.main.wal_pages(), 1600); });
  EXPECT_GT(std::filesystem::file_size(path("main.db")), 1'000'000u);
}

}  // namespace
}  // namespace forge::store
