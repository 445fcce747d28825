#pragma once

#include <string>

#include "orchestrator/http/api.h"
#include "orchestrator/http/idempotency.h"
#include "orchestrator/http/job_events.h"
#include "orchestrator/httpd/host_policy.h"
#include "orchestrator/httpd/router.h"
#include "orchestrator/httpd/trusted_proxies.h"

/// Private to http: what the route files share. Each adds the routes of one resource.
namespace forge::http {

// The words in which every route is written.
using httpd::Access;
using httpd::Method;
using httpd::Request;
using httpd::Response;

/// What handlers work with. Outlives the router, whose handlers hold a reference to it.
struct Services {
  Services(ApiParts parts_, ApiOptions options_)
      : parts(std::move(parts_)),
        options(std::move(options_)),
        hosts(options.public_url),
        proxies(options.trusted_proxies),
        idempotency(parts.clock),
        events(parts.jobs, parts.reviews, parts.hub, parts.clock) {}

  ApiParts parts;
  ApiOptions options;
  httpd::HostPolicy hosts;
  httpd::TrustedProxies proxies;
  Idempotency idempotency;
  JobEvents events;
};

// One line per file: what there is under /api/v1 can be read off here.
void add_job_routes(httpd::Router& router, Services& services);
void add_run_routes(httpd::Router& router, Services& services);
void add_review_routes(httpd::Router& router, Services& services);
void add_file_routes(httpd::Router& router, Services& services);
void add_event_routes(httpd::Router& router, Services& services);
void add_session_routes(httpd::Router& router, Services& services);
void add_token_routes(httpd::Router& router, Services& services);
void add_choice_routes(httpd::Router& router, Services& services);
void add_cost_routes(httpd::Router& router, Services& services);
void add_service_routes(httpd::Router& router, Services& services);

/// Number of the run that the path names; 0 = the latest, when it names none. Throws bad_input.
int run_number(const Request& request);

}  // namespace forge::http
