#include <charconv>

#include "orchestrator/base/error.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

/// Last-Event-ID, which a browser sends by itself when it resumes, goes before `?after=`.
std::optional<std::int64_t> position(const Request& request) {
  const auto id = request.header("last-event-id");
  if (!id || id->empty()) return request.query_integer("after", 0, INT64_MAX);
  std::int64_t seq = 0;
  const auto [end, error] = std::from_chars(id->data(), id->data() + id->size(), seq);
  if (error != std::errc() || end != id->data() + id->size() || seq < 0) throw bad_input("", "the Last-Event-ID is not one of this stream");
  return seq;
}

/// The stream carries what let its client in.
Response tagged(httpd::EventStream stream, const Request& request) {
  stream.tags = request.credentials;  // revoking one of them ends the stream
  return httpd::event_stream(std::move(stream));
}

// The run is fixed when the stream opens: "the latest" does not change under a reader, whose positions count within one run.
Response stream_run(Services& services, const Request& request) {
  JobControl& jobs = services.parts.jobs;
  const Run run = jobs.run(request.param("id"), run_number(request));
  const std::int64_t after = position(request).value_or(0);
  // 204 is how a browser is told that there is nothing to reconnect for.
  if (request.header("last-event-id") && is_final(run.state)) {
    const TracePage rest = jobs.trace(run.job.str(), run.number, after, 1);
    if (rest.items.empty() && rest.complete) return httpd::no_content();
  }
  return tagged(services.events.of_run(run.job, run.number, after), request);
}

}  // namespace

void add_event_routes(httpd::Router& router, Services& services) {
  for (const char* pattern : {"/api/v1/jobs/{id}/events", "/api/v1/jobs/{id}/runs/{n}/events"})
    router.add({.method = Method::get,
                .pattern = pattern,
                .access = Access::at_least(Role::viewer),
                .handler = [&services](const Request& request, const Stop&) { return stream_run(services, request); },
                .query = {"after"}});
  router.add(
      {.method = Method::get,
       .pattern = "/api/v1/events",
       .access = Access::at_least(Role::viewer),
       .handler = [&services](const Request& request, const Stop&) { return tagged(services.events.of_all(position(request)), request); },
       .query = {"after"}});
}

}  // namespace forge::http
