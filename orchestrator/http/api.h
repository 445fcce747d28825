#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/log.h"
#include "orchestrator/domain/access.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/domain/limits.h"
#include "orchestrator/domain/review_control.h"
#include "orchestrator/domain/usage.h"
#include "orchestrator/httpd/event_hub.h"
#include "orchestrator/httpd/site.h"
#include "orchestrator/metrics/metrics.h"

/// The HTTP door: /api/v1 as docs/api.md describes it.
namespace forge::http {

/// A template that jobs may name.
struct TemplateEntry {
  std::string name;
  std::string kind;  ///< host, tree, image
  std::string description;
  std::vector<std::string> packages;
  SandboxLimits limits;
};

/// A model that jobs may name, as far as the configuration and the prices tell: a provider may have others.
struct ModelEntry {
  std::string name;                 ///< "provider/model", an alias, or "scripted:FILE"
  std::optional<Price> price;       ///< of the first tier; nothing: unknown
  std::int64_t context_window = 0;  ///< tokens; 0 = unknown
};

struct ApiParts {
  JobControl& jobs;
  ReviewControl& reviews;
  AccessControl& access;
  httpd::EventHub& hub;
  metrics::Registry& metrics;
  const Clock& clock;
  Log& log;
  /// Throws unavailable or busy when Forge cannot do its work now: /readyz.
  std::function<void()> check_ready;
};

struct ApiOptions {
  JobSpec defaults;  ///< what a job takes that its request does not name
  std::vector<TemplateEntry> templates;
  std::vector<ModelEntry> models;
  std::vector<std::string> allow_local;      ///< prefixes of local paths that callers over TCP may name
  std::string public_url;                    ///< empty: only loopback names are answered to
  std::vector<std::string> trusted_proxies;  ///< addresses and networks whose X-Forwarded-For is believed
  std::size_t max_body_bytes = 8 << 20;
  std::string version;
  std::string_view dashboard = {};  ///< what web/scripts/build.mjs packed; empty: a page that says so
};

/// What a server serves. Listens to `parts.jobs` and `parts.reviews` as long as it lives; must outlive the server, whose stop ends the
/// streams. Throws bad_input for a malformed public URL or proxy.
std::unique_ptr<httpd::Site> make_api(ApiParts parts, ApiOptions options);

}  // namespace forge::http
