#include "orchestrator/store/writer.h"

namespace forge::store {
namespace {

// 1,000 pages are 4 MiB: SQLite's own default.
constexpr int kPassivePages = 1000;
// After this much quiet the logs are emptied, so that a start finds nothing to recover and a copy of the files is complete.
constexpr auto kIdle = std::chrono::seconds(2);

Error as_error(const std::exception& reason) {
  const auto* error = dynamic_cast<const Error*>(&reason);
  return error != nullptr ? *error : Error(ErrorCode::internal, reason.what());
}

}  // namespace

Writer::Writer(std::unique_ptr<Database> main, std::unique_ptr<Database> trace, const Clock& clock, Log& log)
    : main_(std::move(main)),
      trace_(std::move(trace)),
      events_(*main_, *trace_),
      clock_(clock),
      log_(log),
      passive_at_{kPassivePages, kPassivePages},
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Writer::~Writer() {
  inbox_.lock()->closed = true;
  thread_.request_stop();
  thread_.join();
}

void Writer::on_event(Listener listener) {
  write([&](WriteScope&) { listener_ = std::move(listener); });
}

void Writer::submit(File file, const RunId& run, std::function<void(WriteScope&)> operation) {
  if (std::this_thread::get_id() == thread_.get_id()) throw Error(ErrorCode::internal, "the writer's thread must not wait for itself");
  auto task = std::make_unique<Task>();
  task->file = file;
  task->run = run;
  task->operation = std::move(operation);
  std::future<std::optional<Error>> done = task->done.get_future();
  {
    auto inbox = inbox_.lock();
    if (inbox->closed) throw Error(ErrorCode::unavailable, "the store is closed");
    inbox->tasks.push_back(std::move(task));
    inbox.notify_all();
  }
  if (std::optional<Error> failure = done.get()) throw std::move(*failure);
}

void Writer::work(const std::stop_token& stop) {
  Tasks todo;
  while (take(stop, todo)) run_batch(todo);
  checkpoint(Checkpoint::truncate);
}

/// Waits unless something is left to do. False when everything is done and the store closes.
bool Writer::take(const std::stop_token& stop, Tasks& todo) {
  const auto has_tasks = [](const Inbox& inbox) { return !inbox.tasks.empty(); };
  while (true) {
    {
      auto inbox = inbox_.lock();
      if (todo.empty()) {
        const auto until = std::chrono::steady_clock::now() + (logs_filled_ ? kIdle : std::chrono::hours(24));
        inbox.wait_until(stop, until, has_tasks);
      }
      for (auto& task : inbox->tasks) todo.push_back(std::move(task));
      inbox->tasks.clear();
    }
    if (!todo.empty()) return true;
    if (stop.stop_requested()) return false;
    if (logs_filled_) checkpoint(Checkpoint::truncate);
  }
}

void Writer::run_batch(Tasks& todo) {
  Tasks batch;
  try {
    run_tasks(todo, batch);
    commit_batch(batch);
  } catch (const std::exception& e) {
    fail_batch(batch, as_error(e));
  }
  for (const File file : {File::trace, File::main})
    if (database(file).wal_pages() >= passive_at_[static_cast<std::size_t>(file)]) return checkpoint(Checkpoint::passive);
}

/// A file could not begin, commit or undo: whatever of the batch is not committed fails with that reason.
void Writer::fail_batch(Tasks& batch, const Error& reason) {
  for (const File file : {File::trace, File::main}) {
    database(file).rollback();
    events_.forget(file, 0);
  }
  for (auto& task : batch) {
    if (!task) continue;
    if (!task->failure) task->failure = reason;
    answer(std::move(task));
  }
}

void Writer::answer(std::unique_ptr<Task> task) {
  // What the operation refers to belongs to the caller, who goes on with the next line.
  task->operation = nullptr;
  task->done.set_value(std::move(task->failure));
}

void Writer::run_tasks(Tasks& todo, Tasks& batch) {
  while (!todo.empty()) {
    if (todo.front()->file == File::trace && events_.must_wait(todo.front()->run)) return;
    batch.push_back(std::move(todo.front()));
    todo.pop_front();
    attempt(*batch.back());
  }
}

void Writer::attempt(Task& task) {
  Database& target = database(task.file);
  if (!target.in_transaction()) target.begin();
  target.query("SAVEPOINT operation").run();
  const std::size_t before = events_.pending(task.file);
  WriteScope scope{*main_, *trace_, events_, clock_.now_ms()};
  try {
    task.operation(scope);
  } catch (const std::exception& e) {
    task.failure = as_error(e);
    events_.forget(task.file, before);
  }
  // SQLite itself may have rolled back the whole transaction (disk full, I/O): then the operations before this one are gone too.
  if (!target.in_transaction()) throw task.failure.value_or(Error(ErrorCode::internal, "an operation ended its transaction"));
  if (task.failure) target.query("ROLLBACK TO operation").run();
  target.query("RELEASE operation").run();
}

/// The order is the one that EventLog relies on.
void Writer::commit_batch(Tasks& batch) {
  trace_unsynced_ = trace_unsynced_ || events_.pending(File::trace) > 0;
  finish(File::trace, batch);
  if (trace_unsynced_ && events_.pending(File::main) > 0) {
    trace_->sync_log();
    trace_unsynced_ = false;
  }
  finish(File::main, batch);
}

/// Commits one file; its operations are then beyond what may still fail in this batch.
void Writer::finish(File file, Tasks& batch) {
  if (!database(file).in_transaction()) return;
  database(file).commit();
  logs_filled_ = true;
  publish(file);
  for (auto& task : batch)
    if (task && task->file == file) answer(std::move(task));
}

void Writer::publish(File file) {
  const std::vector<StoredEvent> events = events_.take(file);
  if (!listener_) return;
  for (const StoredEvent& stored : events) {
    try {
      listener_(stored.job, stored.event);
    } catch (const std::exception& e) {
      // The event is stored and its caller must not be told otherwise; who listens reads it again from the store.
      log_.error("listener of trace events failed", {{"job", stored.job.str()}, {"seq", stored.event.seq}, {"error", e.what()}});
    }
  }
}

void Writer::checkpoint(Checkpoint kind) {
  bool all_moved = true;
  for (const File file : {File::trace, File::main}) {
    auto& due = passive_at_[static_cast<std::size_t>(file)];
    try {
      const bool moved = database(file).checkpoint(kind);
      all_moved = all_moved && moved;
      // Behind a slow reader the log cannot start over: look again after as many pages more, not at each commit.
      due = moved ? kPassivePages : database(file).wal_pages() + kPassivePages;
    } catch (const Error& e) {
      // Nothing is lost: the log keeps what was committed, and the next checkpoint tries again.
      log_.warn("checkpoint failed", {{"file", database(file).path()}, {"error", e.what()}});
      due = database(file).wal_pages() + kPassivePages;
      all_moved = false;
    }
  }
  if (kind == Checkpoint::truncate && all_moved) logs_filled_ = false;
}

}  // namespace forge::store
