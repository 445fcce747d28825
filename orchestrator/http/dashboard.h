#pragma once

#include <string_view>

#include "orchestrator/httpd/router.h"

namespace forge::http {

/// Adds the dashboard: the files of `pack`, and its page for each path that is a page of the application, so that a link to a job can be
/// opened. `pack` is what web/scripts/build.mjs writes; it is copied. Throws corrupt when it is not.
void add_dashboard_routes(httpd::Router& router, std::string_view pack);

}  // namespace forge::http
