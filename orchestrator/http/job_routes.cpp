#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/crypto/crypto.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/remote_rules.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

using nlohmann::json;

// The spec is complete from here on: what the body leaves open is filled in from the configuration, and the job keeps it that way.
Response create_job(Services& services, const Request& request, const Stop& stop) {
  const Principal& who = *request.principal;
  const JobRequest wanted = job_request_from_json(json_body(request), services.options.defaults);
  if (!who.local) {
    const auto path = services.parts.jobs.local_path(wanted.spec.repository);
    check_remote_spec(wanted.spec, path, services.options.defaults, services.options.allow_local);
  }
  const auto create = [&] { return services.parts.jobs.create(who, wanted.spec, wanted.start).id.str(); };
  const auto key = idempotency_key(request);
  // The key is the principal's own: two of them may choose the same. The body is compared, so that a key is not reused by mistake.
  const std::string id = key ? services.idempotency.once(who.name + '\n' + *key, crypto::sha256_hex(request.body), create, stop) : create();
  if (!wanted.start) services.events.created(JobId(id));
  return json_answer(to_json(services.parts.jobs.get(id)), 201).with("Location", "/api/v1/jobs/" + id);
}

Response list_jobs(JobControl& jobs, const Request& request) {
  JobFilter filter;
  if (const auto state = request.query_value("state")) {
    filter.state = parse_job_state(*state);
    if (!filter.state)
      throw bad_input("state", "is not a state of a job",
                      "created, queued, leased, preparing, running, finalizing, succeeded, no_changes, failed or cancelled");
  }
  if (const auto review = request.query_value("review")) {
    filter.review = parse_review_status(*review);
    if (!filter.review) throw bad_input("review", "is not a status of a review", "none, waiting, changes_requested, applied or dismissed");
  }
  filter.repository = request.query_value("repository").value_or("");
  filter.cursor = request.query_value("cursor").value_or("");
  filter.limit = static_cast<int>(request.query_integer("limit", 1, 200).value_or(filter.limit));
  return json_answer(to_json(jobs.list(filter)));
}

Response start_run(JobControl& jobs, const Request& request) {
  const NewRun wanted = new_run_from_json(optional_json_body(request));
  return json_answer(to_json(jobs.new_run(*request.principal, request.param("id"), wanted)), 201);
}

// 202: the end comes when the run's processes are gone; its trace and its state tell.
Response cancel_job(JobControl& jobs, const Request& request) {
  JsonReader(optional_json_body(request)).finish();
  return json_answer(to_json(jobs.cancel(*request.principal, request.param("id"))), 202);
}

}  // namespace

void add_job_routes(httpd::Router& router, Services& services) {
  JobControl& jobs = services.parts.jobs;
  router.add({.method = Method::post,
              .pattern = "/api/v1/jobs",
              .access = Access::at_least(Role::operator_),
              .handler = [&services](const Request& request, const Stop& stop) { return create_job(services, request, stop); },
              .body_bytes = services.options.max_body_bytes});
  router.add({.method = Method::get,
              .pattern = "/api/v1/jobs",
              .access = Access::at_least(Role::viewer),
              .handler = [&jobs](const Request& request, const Stop&) { return list_jobs(jobs, request); },
              .query = {"state", "review", "repository", "limit", "cursor"}});
  router.add({.method = Method::get,
              .pattern = "/api/v1/jobs/{id}",
              .access = Access::at_least(Role::viewer),
              .handler = [&jobs](const Request& request, const Stop&) { return json_answer(to_json(jobs.get(request.param("id")))); }});
  router.add({.method = Method::post,
              .pattern = "/api/v1/jobs/{id}/run",
              .access = Access::at_least(Role::operator_),
              .handler = [&jobs](const Request& request, const Stop&) { return start_run(jobs, request); },
              .body_bytes = kSmallBodyBytes});
  router.add({.method = Method::post,
              .pattern = "/api/v1/jobs/{id}/cancel",
              .access = Access::at_least(Role::operator_),
              .handler = [&jobs](const Request& request, const Stop&) { return cancel_job(jobs, request); },
              .body_bytes = kSmallBodyBytes});
}

}  // namespace forge::http
