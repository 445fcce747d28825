#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "orchestrator/base/ids.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/event_text.h"

namespace forge::store {

/// The two files. An operation of the writer writes exactly one of them and may read both.
enum class File { main, trace };

struct StoredEvent {
  JobId job;
  TraceEvent event;
};

/// Gives out sequence numbers and stores events. Only the writer's thread uses it.
///
/// One sequence per run runs through both files: events of a state move are rows of forge.db, in the transaction of the move; all
/// others are rows of trace.db. A reader must never meet a hole, so an event may become durable only after all earlier ones of its
/// run. The writer keeps that order:
///  - within one batch it commits trace.db before forge.db, and an event for trace.db that comes after a move of the same run waits
///    for the next batch (`must_wait`);
///  - trace.db does not sync each commit, so its log is synced before a commit of forge.db that holds events.
/// Hence a killed process leaves no hole. A power cut can take the tail of trace.db, but only behind the last move of a run: the
/// sequence then goes on after the last event that is left, and numbers that a client saw before the cut name new events. If trace.db
/// itself was lost, readers skip the hole (see read_events).
class EventLog {
 public:
  EventLog(Database& main, Database& trace) : main_(main), trace_(trace) {}

  /// Stores the event with the run's next number. Throws not_found for an unknown run, conflict for one that has ended: its terminal
  /// event is its last.
  TraceEvent append(File file, const RunId& run, const EventText& text, std::int64_t now_ms);

  /// True when an event of `run` is in the open transaction of forge.db.
  bool must_wait(const RunId& run) const { return moved_.contains(run.str()); }

  /// Events stored in `file` since they were last taken, in order.
  std::vector<StoredEvent> take(File file);
  std::size_t pending(File file) const { return stored_[static_cast<std::size_t>(file)].size(); }
  /// Forgets the events of a failed operation, down to `count`, and what is known of the runs: the files are asked again.
  void forget(File file, std::size_t count);

 private:
  struct Head {
    JobId job;
    int number = 0;
    bool ended = false;
    std::int64_t last_seq = 0;
  };
  Head& head_of(const RunId& run);

  Database& main_;
  Database& trace_;
  std::unordered_map<std::string, Head> heads_;
  std::unordered_set<std::string> moved_;
  std::vector<StoredEvent> stored_[2];
};

}  // namespace forge::store
