#include "orchestrator/store/trace_rows.h"

#include <algorithm>

#include "orchestrator/base/error.h"

namespace forge::store {
namespace {

constexpr int kMostEventsPerPage = 1000;

struct Window {
  const RunId& run;
  std::int64_t after;
  int limit;
};

struct RunHead {
  int number = 1;
  std::int64_t terminal_seq = 0;  ///< 0 while the run lives
};

TraceEvent event_in(Query& row, int run_number) {
  const auto type = parse_trace_type(row.text("type"));
  if (!type) throw Error(ErrorCode::corrupt, "unknown trace type '" + row.text("type") + "' in the database");
  TraceEvent event{.seq = row.integer("seq"),
                   .ts_ms = row.integer("ts_ms"),
                   .run = run_number,
                   .turn = {},
                   .type = *type,
                   .data_json = row.text("data")};
  if (!row.is_null("turn")) event.turn = static_cast<int>(row.integer("turn"));
  return event;
}

RunHead read_head(Database& main, const RunId& run) {
  Query query = main.query(R"sql(
      SELECT number, (SELECT seq FROM state_events WHERE run_id = runs.id AND type = 'terminal') AS terminal_seq FROM runs WHERE id = :run
  )sql");
  if (!query.bind(":run", run.str()).step()) throw Error(ErrorCode::not_found, "no run " + run.str());
  return {.number = static_cast<int>(query.integer("number")), .terminal_seq = query.optional_integer("terminal_seq").value_or(0)};
}

std::vector<TraceEvent> read_rows(Query query, const Window& window, int run_number) {
  std::vector<TraceEvent> events;
  query.bind(":run", window.run.str()).bind(":after", window.after).bind(":limit", window.limit);
  while (query.step()) events.push_back(event_in(query, run_number));
  return events;
}

/// Both parts are in order; the first `limit` of their union are in order too.
std::vector<TraceEvent> merged(std::vector<TraceEvent> a, const std::vector<TraceEvent>& b, int limit) {
  const auto middle = static_cast<std::ptrdiff_t>(a.size());
  a.insert(a.end(), b.begin(), b.end());
  std::inplace_merge(a.begin(), a.begin() + middle, a.end(), [](const TraceEvent& x, const TraceEvent& y) { return x.seq < y.seq; });
  if (a.size() > static_cast<std::size_t>(limit)) a.resize(static_cast<std::size_t>(limit));
  return a;
}

bool has_hole(const std::vector<TraceEvent>& events, std::int64_t after) {
  return !events.empty() && events.back().seq - after != static_cast<std::int64_t>(events.size());
}

}  // namespace

/// forge.db is read before trace.db. A move that the first snapshot holds has all earlier events in the second (see EventLog); only a
/// move between the two reads can be missing before events that follow it, and then a second look at forge.db finds it. A hole that is
/// still there is for ever (trace.db was lost), so it is passed over: waiting for it would hide the rest of the run.
TracePage read_events(Readers& readers, const RunId& run, std::int64_t after, int limit) {
  const Window window{.run = run, .after = std::max<std::int64_t>(after, 0), .limit = std::clamp(limit, 1, kMostEventsPerPage)};
  RunHead head;
  const auto moves = [&](ReadScope& scope) {
    head = read_head(scope.main, run);
    return read_rows(scope.main.query("SELECT * FROM state_events WHERE run_id = :run AND seq > :after ORDER BY seq LIMIT :limit"), window,
                     head.number);
  };
  std::vector<TraceEvent> bulk;
  std::vector<TraceEvent> items = readers.read([&](ReadScope& scope) {
    const std::vector<TraceEvent> first = moves(scope);
    bulk = read_rows(scope.trace.query("SELECT * FROM events WHERE run_id = :run AND seq > :after ORDER BY seq LIMIT :limit"), window,
                     head.number);
    return merged(bulk, first, window.limit);
  });
  if (has_hole(items, window.after)) items = merged(bulk, readers.read(moves), window.limit);
  TracePage page;
  page.next_seq = items.empty() ? window.after : items.back().seq;
  page.complete = head.terminal_seq > 0 && page.next_seq >= head.terminal_seq;
  page.items = std::move(items);
  return page;
}

bool run_names_blob(Readers& readers, const RunId& run, const std::string& blob) {
  return readers.read([&](ReadScope& scope) {
    Query diff = scope.main.query("SELECT 1 FROM runs WHERE id = :run AND diff_blob = :blob");
    if (diff.bind(":run", run.str()).bind(":blob", blob).step()) return true;
    Query event = scope.trace.query("SELECT 1 FROM event_blobs WHERE run_id = :run AND blob = :blob");
    return event.bind(":run", run.str()).bind(":blob", blob).step();
  });
}

}  // namespace forge::store
