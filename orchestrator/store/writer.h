#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/log.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/event_log.h"

namespace forge::store {

/// What an operation works with, on the writer's thread. It must not wait for anything and must not call the store.
struct WriteScope {
  Database& main;
  Database& trace;
  EventLog& events;
  std::int64_t now_ms;
};

/// The one thread that writes. Callers hand in an operation and wait; the thread takes all that wait, runs each in a savepoint of its
/// own, commits once per file, tells the listener, and wakes the callers. An operation that throws is undone alone; a commit that
/// fails, fails every operation that it held. The same thread does all checkpoints.
/// The queue is bounded by its callers: each thread has at most one operation in it.
class Writer {
 public:
  using Listener = std::function<void(const JobId&, const TraceEvent&)>;

  /// Takes migrated connections, both read_write.
  Writer(std::unique_ptr<Database> main, std::unique_ptr<Database> trace, const Clock& clock, Log& log);
  /// Finishes what waits, then empties the logs into the files. No caller may be waiting to enter.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Runs `operation` on forge.db and returns its result once it is committed.
  template <typename Operation>
  auto write(Operation&& operation) {
    return submit_for_result(File::main, {}, std::forward<Operation>(operation));
  }
  /// The same on trace.db, for one run.
  template <typename Operation>
  auto write_trace(const RunId& run, Operation&& operation) {
    return submit_for_result(File::trace, run, std::forward<Operation>(operation));
  }

  /// Takes effect between two batches: when it returns, the listener before it is not called any more.
  void on_event(Listener listener);

 private:
  struct Task {
    File file = File::main;
    RunId run;  ///< whose trace it appends to; empty for the main file
    std::function<void(WriteScope&)> operation;
    std::promise<std::optional<Error>> done;
    std::optional<Error> failure;  ///< a value, not an exception_ptr: callers add their context to it, each to its own
  };
  using Tasks = std::deque<std::unique_ptr<Task>>;
  struct Inbox {
    Tasks tasks;
    bool closed = false;
  };

  template <typename Operation>
  auto submit_for_result(File file, const RunId& run, Operation&& operation) {
    using Result = std::invoke_result_t<Operation&, WriteScope&>;
    if constexpr (std::is_void_v<Result>) {
      submit(file, run, [&](WriteScope& scope) { operation(scope); });
    } else {
      std::optional<Result> result;
      submit(file, run, [&](WriteScope& scope) { result = operation(scope); });
      return std::move(*result);
    }
  }
  void submit(File file, const RunId& run, std::function<void(WriteScope&)> operation);

  void work(const std::stop_token& stop);
  bool take(const std::stop_token& stop, Tasks& todo);
  void run_batch(Tasks& todo);
  void run_tasks(Tasks& todo, Tasks& batch);
  void attempt(Task& task);
  void commit_batch(Tasks& batch);
  void finish(File file, Tasks& batch);
  void fail_batch(Tasks& batch, const Error& reason);
  static void answer(std::unique_ptr<Task> task);
  void publish(File file);
  void checkpoint(Checkpoint kind);
  Database& database(File file) { return file == File::main ? *main_ : *trace_; }

  std::unique_ptr<Database> main_;
  std::unique_ptr<Database> trace_;
  EventLog events_;
  const Clock& clock_;
  Log& log_;
  Guarded<Inbox> inbox_;
  // From here on the thread's own.
  Listener listener_;
  bool trace_unsynced_ = false;  ///< trace.db has commits that a power cut could take
  bool logs_filled_ = false;     ///< something was committed since the last truncating checkpoint
  int passive_at_[2];            ///< log pages at which the next passive checkpoint of each file is due
  std::jthread thread_;          ///< last: it uses all of the above
};

}  // namespace forge::store
