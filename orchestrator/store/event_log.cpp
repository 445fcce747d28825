#include "orchestrator/store/event_log.h"

#include <algorithm>

#include "orchestrator/base/error.h"

namespace forge::store {
namespace {

// Live runs are few; past this the map holds mostly ended ones and starts over.
constexpr std::size_t kMostHeads = 1024;

void insert_state_event(Database& main, const RunId& run, const TraceEvent& event) {
  Query insert = main.query(R"sql(
      INSERT INTO state_events (run_id, seq, ts_ms, turn, type, data) VALUES (:run, :seq, :ts, :turn, :type, :data)
  )sql");
  insert.bind(":run", run.str()).bind(":seq", event.seq).bind(":ts", event.ts_ms);
  insert.bind(":turn", event.turn ? std::optional<std::int64_t>(*event.turn) : std::nullopt);
  insert.bind(":type", name_of(event.type)).bind(":data", event.data_json);
  insert.run();
}

void insert_trace_event(Database& trace, const RunId& run, const TraceEvent& event) {
  Query insert = trace.query(R"sql(
      INSERT INTO events (run_id, seq, ts_ms, turn, type, data) VALUES (:run, :seq, :ts, :turn, :type, :data)
  )sql");
  insert.bind(":run", run.str()).bind(":seq", event.seq).bind(":ts", event.ts_ms);
  insert.bind(":turn", event.turn ? std::optional<std::int64_t>(*event.turn) : std::nullopt);
  insert.bind(":type", name_of(event.type)).bind(":data", event.data_json);
  insert.run();
}

std::int64_t last_state_seq(Database& main, const RunId& run) {
  Query query = main.query("SELECT coalesce(max(seq), 0) AS seq FROM state_events WHERE run_id = :run");
  query.bind(":run", run.str()).step();
  return query.integer("seq");
}

std::int64_t last_trace_seq(Database& trace, const RunId& run) {
  Query query = trace.query("SELECT coalesce(max(seq), 0) AS seq FROM events WHERE run_id = :run");
  query.bind(":run", run.str()).step();
  return query.integer("seq");
}

}  // namespace

EventLog::Head& EventLog::head_of(const RunId& run) {
  if (const auto known = heads_.find(run.str()); known != heads_.end()) return known->second;
  if (heads_.size() >= kMostHeads) heads_.clear();
  Query query = main_.query("SELECT job_id, number, reason FROM runs WHERE id = :run");
  if (!query.bind(":run", run.str()).step()) throw Error(ErrorCode::not_found, "no run " + run.str());
  // The writer's own connections also see what they have not committed yet.
  const Head head{.job = JobId(query.text("job_id")),
                  .number = static_cast<int>(query.integer("number")),
                  .ended = !query.is_null("reason"),
                  .last_seq = std::max(last_state_seq(main_, run), last_trace_seq(trace_, run))};
  return heads_[run.str()] = head;
}

TraceEvent EventLog::append(File file, const RunId& run, const EventText& text, std::int64_t now_ms) {
  Head& head = head_of(run);
  // Of the main file only the end itself comes here with a run that has just ended.
  if (head.ended && file == File::trace) throw Error(ErrorCode::conflict, "run " + run.str() + " has ended: its trace is closed");
  TraceEvent event{
      .seq = head.last_seq + 1, .ts_ms = now_ms, .run = head.number, .turn = text.turn, .type = text.type, .data_json = text.data_json};
  if (file == File::main) {
    insert_state_event(main_, run, event);
    moved_.insert(run.str());
  } else {
    insert_trace_event(trace_, run, event);
    for (const std::string& blob : text.blobs)
      trace_.query("INSERT OR IGNORE INTO event_blobs (run_id, blob) VALUES (:run, :blob)")
          .bind(":run", run.str())
          .bind(":blob", blob)
          .run();
  }
  head.last_seq = event.seq;
  if (event.type == TraceType::terminal) head.ended = true;
  stored_[static_cast<std::size_t>(file)].push_back({head.job, event});
  return event;
}

std::vector<StoredEvent> EventLog::take(File file) {
  if (file == File::main) moved_.clear();
  return std::exchange(stored_[static_cast<std::size_t>(file)], {});
}

void EventLog::forget(File file, std::size_t count) {
  auto& stored = stored_[static_cast<std::size_t>(file)];
  stored.resize(std::min(count, stored.size()));
  if (file == File::main && stored.empty()) moved_.clear();
  heads_.clear();
}

}  // namespace forge::store
