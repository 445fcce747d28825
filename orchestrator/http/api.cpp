#include "orchestrator/http/api.h"

#include "orchestrator/base/error.h"
#include "orchestrator/http/auth.h"
#include "orchestrator/http/public_error.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

// One object per process: the routes, who may use them, and what is told about each request.
class Api final : public httpd::Site {
 public:
  Api(ApiParts parts, ApiOptions options)
      : services_(std::move(parts), std::move(options)), doorman_(services_.parts.access, services_.hosts) {
    add_job_routes(router_, services_);
    add_run_routes(router_, services_);
    add_review_routes(router_, services_);
    add_file_routes(router_, services_);
    add_event_routes(router_, services_);
    add_session_routes(router_, services_);
    add_token_routes(router_, services_);
    add_choice_routes(router_, services_);
    add_cost_routes(router_, services_);
    add_service_routes(router_, services_);
    // Read when somebody asks, because the hub knows them anyway.
    metrics::Gauge streams = services_.parts.metrics.gauge({"forge_http_event_streams", "Open event streams."});
    metrics::Gauge dropped =
        services_.parts.metrics.gauge({"forge_http_event_streams_dropped", "Event streams dropped because their client did not read."});
    httpd::EventHub& hub = services_.parts.hub;
    sampling_ = services_.parts.metrics.before_text([streams, dropped, &hub]() mutable {
      streams.set(static_cast<double>(hub.size()));
      dropped.set(static_cast<double>(hub.dropped()));
    });
  }

  // httpd::Site, in the order in which a request meets them.
  const httpd::Router& router() const override { return router_; }
  void screen(const Request& request) override { services_.hosts.check_host(request); }
  void admit(Request& request, const httpd::Route& route) override { doorman_.admit(request, route); }

  Response failure(const Request&, const std::exception& error) noexcept override {
    const auto* known = dynamic_cast<const Error*>(&error);
    const ErrorCode code = known != nullptr ? known->code() : ErrorCode::internal;
    // What the client cannot be told must be found in the log; its own mistakes need not fill it.
    if (status_of(code) >= 500) services_.parts.log.error("a request failed", {{"code", name_of(code)}, {"error", error.what()}});
    return error_response(error);
  }

  void served(const httpd::Served& served) override {
    const std::string method(name_of(served.request.method));
    const std::string route = served.route != nullptr ? served.route->pattern : "none";
    // By pattern and not by path: a path has no end of values, and may hold the secret of a sign-in link.
    metrics::Registry& metrics = services_.parts.metrics;
    metrics
        .counter({"forge_http_requests_total", "Requests by route, method and status."},
                 {{"route", route}, {"method", method}, {"status", std::to_string(served.status)}})
        .add();
    metrics
        .histogram({"forge_http_request_duration_seconds", "From the complete head to the end of the answer."},
                   metrics::duration_buckets_s(), {{"route", route}})
        .observe(std::chrono::duration<double>(served.duration).count());
    // Writes are worth a line; reads come by the hundred from an open dashboard.
    const std::string who = served.request.principal ? served.request.principal->name : "";
    services_.parts.log.write(httpd::is_safe(served.request.method) ? LogLevel::debug : LogLevel::info, "request",
                              {{"method", method},
                               {"route", route},
                               {"status", served.status},
                               {"duration_us", static_cast<long long>(served.duration.count())},
                               {"principal", who},
                               {"client", services_.proxies.client_of(served.request)}});
  }

 private:
  Services services_;
  Doorman doorman_;
  httpd::Router router_;
  std::shared_ptr<void> sampling_;
};

}  // namespace

std::unique_ptr<httpd::Site> make_api(ApiParts parts, ApiOptions options) {
  return std::make_unique<Api>(std::move(parts), std::move(options));
}

}  // namespace forge::http
