#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/redactor.h"
#include "orchestrator/store/blobs.h"
#include "orchestrator/store/store.h"
#include "orchestrator/store/writer.h"

namespace forge::store {

/// Everything that changes a job or a run. Each call is one operation of the writer: with the change it stores the trace event of it,
/// and keeps the job's mirror of its last run's state. Where the run's lease matters, false means that it is void or somebody was
/// first, and nothing was changed.
class RunMoves {
 public:
  RunMoves(const Redactor& redactor, const Blobs& blobs) : redactor_(redactor), blobs_(blobs) {}

  /// `created`, or with `queued` already with its first run.
  JobId insert_job(WriteScope& scope, const JobSpec& spec, const std::string& created_by, bool queued) const;
  /// Run number last + 1, queued; clears cancel_requested. Throws not_found; conflict while a run lives.
  Run insert_run(WriteScope& scope, const JobId& job, const RunRow& wanted) const;
  /// The oldest queued run > leased. Nothing when none waits.
  std::optional<Lease> claim(WriteScope& scope, std::int64_t lease_until_ms) const;
  /// `lease_until_ms` is Unix time in milliseconds; the store keeps it and does not act on it.
  bool renew(WriteScope& scope, const Lease& lease, std::int64_t lease_until_ms) const;
  /// Throws internal for a move that can_move forbids, or one into a final state: that is end().
  bool move(WriteScope& scope, const Lease& lease, JobState from, JobState to) const;
  /// Writes the set fields only.
  bool update(WriteScope& scope, const Lease& lease, const RunUpdate& update) const;
  /// Any state of a run at work > state_of(end.reason), with its `state` and `terminal` events.
  bool end(WriteScope& scope, const Lease& lease, const RunEnd& end) const;
  /// Throws not_found; conflict when nothing lives.
  void request_cancel(WriteScope& scope, const JobId& job) const;
  /// Every run at work > failed, `interrupted`. Returns them as they are afterwards.
  std::vector<Run> end_interrupted(WriteScope& scope) const;

 private:
  /// `from` is the job's state before, for the event.
  Run add_run(WriteScope& scope, const JobId& job, int number, JobState from, const RunRow& wanted) const;
  /// The end of a run whose state was looked at in the same operation.
  void finish(WriteScope& scope, const Run& run, const RunEnd& end) const;
  void record(WriteScope& scope, const RunId& run, const TraceData& data) const;

  const Redactor& redactor_;
  const Blobs& blobs_;
};

}  // namespace forge::store
