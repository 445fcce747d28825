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

  JobId insert_job(WriteScope& scope, const JobSpec& spec, const std::string& created_by, bool queued) const;
  Run insert_run(WriteScope& scope, const JobId& job, const std::string& note) const;
  std::optional<Lease> claim(WriteScope& scope, std::int64_t lease_until_ms) const;
  bool renew(WriteScope& scope, const Lease& lease, std::int64_t lease_until_ms) const;
  bool move(WriteScope& scope, const Lease& lease, JobState from, JobState to) const;
  bool update(WriteScope& scope, const Lease& lease, const RunUpdate& update) const;
  bool end(WriteScope& scope, const Lease& lease, const RunEnd& end) const;
  void request_cancel(WriteScope& scope, const JobId& job) const;
  std::vector<Run> end_interrupted(WriteScope& scope) const;

 private:
  Run add_run(WriteScope& scope, const JobId& job, int number, JobState from, const std::string& note) const;
  void finish(WriteScope& scope, const Run& run, const RunEnd& end) const;
  void record(WriteScope& scope, const RunId& run, const TraceData& data) const;

  const Redactor& redactor_;
  const Blobs& blobs_;
};

}  // namespace forge::store
