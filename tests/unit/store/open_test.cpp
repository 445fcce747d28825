#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "orchestrator/store/database.h"
#include "orchestrator/store/open_files.h"
#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class OpenStore : public testing::Test {
 protected:
  std::unique_ptr<Store> open() {
    return open_sqlite_store({.directory = directory_, .clock = clock_, .redactor = redactor_, .log = *log_});
  }
  Database database(const char* name) { return Database(directory_ + "/" + name, Access::read_write, Durability::full); }
  unsigned mode_of(const std::string& name) {
    struct stat status {};
    EXPECT_EQ(::stat((directory_ + name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }
  /// Overwrites the second page, which holds the root of a table.
  void damage(const std::string& name) {
    std::fstream file(directory_ + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(4096, '\xa5');
  }

  test::TempDir parent_;
  std::string directory_ = parent_.str() + "/a/data";
  test::FakeClock clock_;
  Redactor redactor_;
  std::unique_ptr<Log> log_ = make_null_log();
};

TEST_F(OpenStore, MakesEverythingPrivate) {
  const auto store = open();
  store->insert_job({.repository = "r", .base = {}, .task = "t"}, "anna", true);
  store->ping();
  EXPECT_EQ(mode_of(""), 0700u);
  for (const char* folder : {"/blobs", "/backups"}) EXPECT_EQ(mode_of(folder), 0700u) << folder;
  for (const char* file : {"/forge.db", "/forge.db-wal", "/forge.db-shm", "/trace.db", "/trace.db-wal", "/trace.db-shm"})
    EXPECT_EQ(mode_of(file), 0600u) << file;
}

TEST_F(OpenStore, ClosesWithEmptyLogs) {
  {
    const auto store = open();
    const Job job = store->insert_job({.repository = "r", .base = {}, .task = "t"}, "anna", true);
    store->append_event(job.last_run->id, trace::Turn{1}, {});
    store->jobs({});  // a reader is open as well
  }
  for (const char* log : {"/forge.db-wal", "/trace.db-wal"})
    EXPECT_TRUE(!fs::exists(directory_ + log) || fs::file_size(directory_ + log) == 0) << log;
  EXPECT_EQ(open()->jobs({}).items.size(), 1u);
}

TEST_F(OpenStore, RefusesANewerFileAndTouchesNothing) {
  open().reset();
  for (const char* name : {"forge.db", "trace.db"}) {
    const int known = database(name).user_version();
    database(name).execute("PRAGMA user_version = 7");
    EXPECT_EQ(error_of([&] { open(); }),
              "unsupported: database is version 7, this forge knows " + std::to_string(known) + ": use the newer forge")
        << name;
    EXPECT_EQ(database(name).user_version(), 7);
    database(name).run_script("PRAGMA user_version = " + std::to_string(known) + ";");
  }
  EXPECT_TRUE(fs::is_empty(directory_ + "/backups"));
  open();
}

TEST_F(OpenStore, ReportsADamagedFileAsCorrupt) {
  for (const char* name : {"forge.db", "trace.db"}) {
    fs::remove_all(directory_);
    open().reset();
    damage(name);
    const std::string error = error_of([&] { open(); });
    EXPECT_THAT(error, StartsWith("corrupt: ")) << name;
    EXPECT_THAT(error, HasSubstr(name));
  }
}

TEST_F(OpenStore, ReportsAFileThatIsNoDatabaseAsCorrupt) {
  test::write_file(directory_ + "/forge.db", std::string(8192, 'x'));
  EXPECT_THAT(error_of([&] { open(); }), StartsWith("corrupt: "));
}

TEST_F(OpenStore, BacksUpAndMigratesAnOlderFile) {
  open().reset();
  std::vector<Migration> known(main_migrations().begin(), main_migrations().end());
  const int before = static_cast<int>(known.size());
  known.push_back({before + 1, "9999_more", "ALTER TABLE jobs ADD COLUMN colour TEXT;"});
  open_files(directory_, known, trace_migrations(), clock_, *log_);
  EXPECT_EQ(database("forge.db").user_version(), before + 1);
  const std::string backup = "/backups/forge-v" + std::to_string(before) + "-" + std::to_string(clock_.now_ms()) + ".db";
  EXPECT_EQ(mode_of(backup), 0600u);
  EXPECT_EQ(database(backup.c_str() + 1).user_version(), before);
}

TEST_F(OpenStore, GoesOnWithoutALostTraceFile) {
  const Job job = [&] {
    const auto store = open();
    Job made = store->insert_job({.repository = "r", .base = {}, .task = "t"}, "anna", true);
    store->append_event(made.last_run->id, trace::Turn{1}, {});
    store->claim_run(1);
    return made;
  }();
  fs::remove(directory_ + "/trace.db");
  const auto store = open();
  const RunId run = job.last_run->id;
  EXPECT_EQ(store->append_event(run, trace::Turn{2}, {}).seq, 4);
  std::vector<std::int64_t> seqs;
  for (const TraceEvent& event : store->events(run, 0, 10).items) seqs.push_back(event.seq);
  EXPECT_THAT(seqs, testing::ElementsAre(1, 3, 4));  // 2 is lost for ever and is not waited for
}

TEST_F(OpenStore, RefusesALostMainFileBesideATraceFile) {
  const auto make_job = [&] { return open()->insert_job({.repository = "r", .base = {}, .task = "t"}, "anna", true); };
  make_job();
  const std::string trace = test::read_file(directory_ + "/trace.db");
  for (const bool emptied : {true, false}) {
    fs::remove(directory_ + "/forge.db");
    if (emptied) test::write_file(directory_ + "/forge.db", "");
    for (int attempt = 0; attempt < 2; ++attempt) {  // the first must not make what the second takes for a database
      const std::string error = error_of([&] { open(); });
      EXPECT_THAT(error, StartsWith("corrupt: "));
      EXPECT_THAT(error, HasSubstr("forge.db was lost"));
    }
  }
  EXPECT_EQ(test::read_file(directory_ + "/trace.db"), trace);
  fs::remove(directory_ + "/trace.db");
  EXPECT_NO_THROW(make_job());
}

TEST_F(OpenStore, HoldsExactlyTheStatesOfTheDomain) {
  open().reset();
  Database main = database("forge.db");
  main.execute("INSERT INTO jobs (id, repository, spec, created_by, created_ms, state) VALUES ('j', 'r', '{}', 'a', 1, 'created')");
  main.execute("INSERT INTO runs (id, job_id, number, state, created_ms) VALUES ('r', 'j', 1, 'queued', 1)");
  const auto set_states = [&](std::string_view job, std::string_view run, bool ended) {
    main.query("UPDATE jobs SET state = :state, last_run = (:state <> 'created')").bind(":state", job).run();
    main.query("UPDATE runs SET state = :state, reason = iif(:ended, 'x', null)").bind(":state", run).bind(":ended", ended).run();
  };
  for (int i = 0; i <= static_cast<int>(JobState::cancelled); ++i) {
    const auto state = static_cast<JobState>(i);
    const auto of_run = state == JobState::created ? JobState::queued : state;
    EXPECT_NO_THROW(set_states(name_of(state), name_of(of_run), is_final(of_run))) << name_of(state);
  }
  EXPECT_THROW(set_states("paused", "queued", false), Error);
  EXPECT_THROW(set_states("queued", "created", false), Error);
  EXPECT_THROW(set_states("failed", "failed", false), Error);  // an end without a reason
}

}  // namespace
}  // namespace forge::store
