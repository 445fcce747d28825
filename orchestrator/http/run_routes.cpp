#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

using nlohmann::json;

/// A diff larger than this is left out of the JSON answer: text/x-diff has it whole.
constexpr std::size_t kInlineDiffBytes = 4 << 20;

/// Never paged: a job has few runs, each asked for by hand.
Response list_runs(JobControl& jobs, const Request& request) {
  json items = json::array();
  for (const Run& run : jobs.runs(request.param("id"))) items.push_back(to_json(run));
  return whole_list(std::move(items));
}

Response show_trace(JobControl& jobs, const Request& request) {
  constexpr std::int64_t kMost = INT64_MAX;
  // `cursor` is what every list understands; here it is the same number as `after`.
  const auto after = request.query_integer("after", 0, kMost);
  const auto cursor = request.query_integer("cursor", 0, kMost);
  if (after && cursor) throw bad_input("cursor", "after and cursor say the same thing", "give one of them");
  const int limit = static_cast<int>(request.query_integer("limit", 1, 1000).value_or(200));
  const std::int64_t from = after ? *after : cursor.value_or(0);
  return httpd::json_response(200, trace_page_json(jobs.trace(request.param("id"), run_number(request), from, limit)));
}

/// Whichever of the types we have is named first; quality values are not weighed, because nobody asks for both.
bool wants_plain_diff(const Request& request) {
  for (const std::string& part : split(request.header("accept").value_or(""), ',')) {
    const std::string type = lower_ascii(trim(part.substr(0, part.find(';'))));
    if (type == "application/json") return false;
    if (type == "text/x-diff" || type == "text/plain") return true;
  }
  return false;
}

/// A diff with its figures: `text` is changed from one to the other of two commits. JSON is UTF-8 and a repository need not be. What was
/// replaced is counted, so that nobody applies the text by mistake.
json diff_json(const Run& run, const DiffStat& stat, const std::string& base_commit, const std::string& text) {
  const bool fits = text.size() <= kInlineDiffBytes;
  const CleanText clean = fits ? to_utf8(text) : CleanText{};
  json answer = {{"job", run.job.str()},
                 {"run", run.number},
                 {"stat", to_json(stat)},
                 {"base_commit", base_commit.empty() ? json(nullptr) : json(base_commit)},
                 {"head_commit", to_json(run).at("head_commit")},
                 {"bytes", text.size()},
                 {"replaced", clean.replaced},
                 {"text", fits ? json(clean.text) : json(nullptr)}};
  return answer;
}

Response plain_diff(std::string text) { return httpd::text_response(200, "text/x-diff; charset=utf-8", std::move(text)); }

// Runs are looked up once, and their diff by number: a new run that begins in between must not mix two runs in one answer.
Response show_run_diff(JobControl& jobs, const Run& run, const Request& request) {
  std::string text = jobs.diff(run.job.str(), run.number);
  if (wants_plain_diff(request)) return plain_diff(std::move(text));
  return json_answer(diff_json(run, run.diff_stat, run.base_commit, text));
}

Response show_interdiff(Services& services, const Run& run, int since_run, const Request& request, const Stop& stop) {
  Interdiff diff = services.parts.reviews.interdiff(run.job.str(), run.number, since_run, stop);
  if (wants_plain_diff(request)) return plain_diff(std::move(diff.text));
  const Run since = services.parts.jobs.run(run.job.str(), since_run);
  json answer = diff_json(run, diff.stat, since.head_commit, diff.text);
  answer["since_run"] = diff.since_run;
  answer["changed_hunks"] = diff.changed_hunks;
  answer["gone_hunks"] = diff.gone_hunks;
  return json_answer(answer);
}

Response show_diff(Services& services, const Request& request, const Stop& stop) {
  const auto since_run = request.query_integer("since_run", 1, kMostRuns);
  const Run run = services.parts.jobs.run(request.param("id"), run_number(request));
  Response response = since_run ? show_interdiff(services, run, static_cast<int>(*since_run), request, stop)
                                : show_run_diff(services.parts.jobs, run, request);
  return std::move(response).with("Vary", "Accept");
}

Response show_cost(JobControl& jobs, const Request& request) {
  return json_answer(to_json(jobs.cost(request.param("id"), run_number(request))));
}

Response show_blob(JobControl& jobs, const Request& request) {
  const std::string& blob = request.param("blob");
  std::string data = jobs.blob(request.param("id"), run_number(request), blob);
  // Its name is its content: a copy never gets old.
  return stranger_answer(request, '"' + blob + '"', Lifetime::immutable, [&] {
    const char* const type = is_utf8(data) ? "text/plain; charset=utf-8" : "application/octet-stream";
    return httpd::text_response(200, type, std::move(data));
  });
}

Response show_run(JobControl& jobs, const Request& request) {
  return json_answer(to_json(jobs.run(request.param("id"), run_number(request))));
}

/// Most routes here read, take the job's id and perhaps a run's number, and answer at once.
using Show = Response (*)(JobControl&, const Request&);

}  // namespace

int run_number(const Request& request) {
  const auto found = request.params.find("n");
  if (found == request.params.end()) return 0;
  const std::string& text = found->second;
  const bool digits = text.size() <= 6 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || text.front() == '0') throw bad_input("n", "is not the number of a run", "1, 2, ...");
  return std::stoi(text);
}

void add_run_routes(httpd::Router& router, Services& services) {
  JobControl& jobs = services.parts.jobs;
  const auto add = [&](const std::string& pattern, Show show, std::vector<std::string> query = {}) {
    router.add({.method = Method::get,
                .pattern = pattern,
                .access = Access::at_least(Role::viewer),
                .handler = [&jobs, show](const Request& request, const Stop&) { return show(jobs, request); },
                .query = std::move(query)});
  };
  add("/api/v1/jobs/{id}/runs", list_runs);
  add("/api/v1/jobs/{id}/runs/{n}", show_run);
  // The short forms mean the latest run.
  for (const std::string run : {"/api/v1/jobs/{id}", "/api/v1/jobs/{id}/runs/{n}"}) {
    add(run + "/trace", show_trace, {"after", "cursor", "limit"});
    router.add({.method = Method::get,
                .pattern = run + "/diff",
                .access = Access::at_least(Role::viewer),
                .handler = [&services](const Request& request, const Stop& stop) { return show_diff(services, request, stop); },
                .query = {"since_run"}});
    add(run + "/cost", show_cost);
    add(run + "/blobs/{blob}", show_blob);
  }
}

}  // namespace forge::http
