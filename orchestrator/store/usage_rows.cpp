#include "orchestrator/store/usage_rows.h"

#include "orchestrator/base/error.h"

namespace forge::store {
namespace {

/// The four counts of the columns of that name.
Usage usage_in(Query& query) {
  return {.input = query.integer("input"),
          .output = query.integer("output"),
          .cache_read = query.integer("cache_read"),
          .cache_write = query.integer("cache_write")};
}

Spending spending_in(Query& query) {
  query.step();
  return {.priced_nano_usd = query.integer("priced"), .unpriced = usage_in(query)};
}

}  // namespace

void add_usage(WriteScope& scope, const UsageRow& row) {
  // A sum with an unpriced part is null and stays it: in SQL, number + null is null.
  const int runs = scope.main
                       .query(R"sql(
                           UPDATE runs SET input_tokens       = input_tokens + :input,
                                           output_tokens      = output_tokens + :output,
                                           cache_read_tokens  = cache_read_tokens + :cache_read,
                                           cache_write_tokens = cache_write_tokens + :cache_write,
                                           cost_nano_usd      = cost_nano_usd + :cost
                            WHERE id = :run
                       )sql")
                       .bind(":input", row.usage.input)
                       .bind(":output", row.usage.output)
                       .bind(":cache_read", row.usage.cache_read)
                       .bind(":cache_write", row.usage.cache_write)
                       .bind(":cost", row.cost_nano_usd)
                       .bind(":run", row.run.str())
                       .run();
  if (runs == 0) throw Error(ErrorCode::not_found, "no run " + row.run.str());
  scope.main
      .query(R"sql(
          INSERT INTO usage (run_id, request_id, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                             cost_nano_usd, price_hash, created_ms)
          VALUES (:run, :request, :model, :input, :output, :cache_read, :cache_write, :cost, :price_hash, :now)
      )sql")
      .bind(":run", row.run.str())
      .bind(":request", row.request_id)
      .bind(":model", row.model)
      .bind(":input", row.usage.input)
      .bind(":output", row.usage.output)
      .bind(":cache_read", row.usage.cache_read)
      .bind(":cache_write", row.usage.cache_write)
      .bind(":cost", row.cost_nano_usd)
      .bind(":price_hash", row.price_hash)
      .bind(":now", scope.now_ms)
      .run();
}

std::vector<ModelCost> usage_by_model(Database& main, const RunId& run) {
  std::vector<ModelCost> costs;
  Query query = main.query(R"sql(
      SELECT model, count(*) AS requests, sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cache_read_tokens) AS cache_read,
             sum(cache_write_tokens) AS cache_write,
             CASE WHEN count(cost_nano_usd) = count(*) THEN sum(cost_nano_usd) END AS cost
        FROM usage WHERE run_id = :run GROUP BY model ORDER BY min(id)
  )sql");
  query.bind(":run", run.str());
  while (query.step()) {
    costs.push_back({.model = query.text("model"),
                     .usage = usage_in(query),
                     .cost_nano_usd = query.optional_integer("cost"),
                     .requests = query.integer("requests")});
  }
  return costs;
}

Spending spending_of_job(Database& main, const JobId& job) {
  Query query = main.query(R"sql(
      SELECT coalesce(sum(usage.cost_nano_usd), 0) AS priced,
             coalesce(sum(usage.input_tokens) FILTER (WHERE usage.cost_nano_usd IS NULL), 0) AS input,
             coalesce(sum(usage.output_tokens) FILTER (WHERE usage.cost_nano_usd IS NULL), 0) AS output,
             coalesce(sum(usage.cache_read_tokens) FILTER (WHERE usage.cost_nano_usd IS NULL), 0) AS cache_read,
             coalesce(sum(usage.cache_write_tokens) FILTER (WHERE usage.cost_nano_usd IS NULL), 0) AS cache_write
        FROM usage JOIN runs ON runs.id = usage.run_id WHERE runs.job_id = :job
  )sql");
  query.bind(":job", job.str());
  return spending_in(query);
}

Spending spending_since(Database& main, std::int64_t since_ms) {
  Query query = main.query(R"sql(
      SELECT coalesce(sum(cost_nano_usd), 0) AS priced,
             coalesce(sum(input_tokens) FILTER (WHERE cost_nano_usd IS NULL), 0) AS input,
             coalesce(sum(output_tokens) FILTER (WHERE cost_nano_usd IS NULL), 0) AS output,
             coalesce(sum(cache_read_tokens) FILTER (WHERE cost_nano_usd IS NULL), 0) AS cache_read,
             coalesce(sum(cache_write_tokens) FILTER (WHERE cost_nano_usd IS NULL), 0) AS cache_write
        FROM usage WHERE created_ms >= :since
  )sql");
  query.bind(":since", since_ms);
  return spending_in(query);
}

std::vector<SpendingRow> spending_of_days(Database& main, const DaySpan& span, std::size_t most_rows) {
  Query query = main.query(R"sql(
      SELECT usage.created_ms / :day_ms AS day, jobs.repository AS repository, usage.model AS model, count(*) AS requests,
             count(*) - count(usage.cost_nano_usd) AS unpriced, coalesce(sum(usage.cost_nano_usd), 0) AS priced,
             sum(usage.input_tokens) AS input, sum(usage.output_tokens) AS output, sum(usage.cache_read_tokens) AS cache_read,
             sum(usage.cache_write_tokens) AS cache_write
        FROM usage JOIN runs ON runs.id = usage.run_id JOIN jobs ON jobs.id = runs.job_id
       WHERE usage.created_ms >= :from AND usage.created_ms < :to
       GROUP BY 1, 2, 3 ORDER BY 1 DESC, priced DESC, 2, 3 LIMIT :most
  )sql");
  query.bind(":day_ms", kDayMs)
      .bind(":from", span.first * kDayMs)
      .bind(":to", (span.last + 1) * kDayMs)
      .bind(":most", static_cast<std::int64_t>(most_rows) + 1);
  std::vector<SpendingRow> rows;
  while (query.step())
    rows.push_back({.day = query.integer("day"),
                    .repository = query.text("repository"),
                    .model = query.text("model"),
                    .requests = query.integer("requests"),
                    .unpriced_requests = query.integer("unpriced"),
                    .usage = usage_in(query),
                    .priced_nano_usd = query.integer("priced")});
  if (rows.size() > most_rows) throw bad_input("from", "more than " + std::to_string(most_rows) + " rows of costs", "ask for fewer days");
  return rows;
}

}  // namespace forge::store
