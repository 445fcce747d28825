#include <fmt/format.h>

#include "orchestrator/egress/proxy.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::egress {

std::vector<std::pair<std::string, std::string>> proxy_environment() {
  const std::string proxy = fmt::format("http://127.0.0.1:{}", sandbox::kProxyPort);
  const std::string direct = "127.0.0.1,localhost,::1";
  return {
      {"HTTP_PROXY", proxy},
      {"HTTPS_PROXY", proxy},
      {"ALL_PROXY", proxy},
      {"NO_PROXY", direct},
      {"http_proxy", proxy},
      {"https_proxy", proxy},
      {"all_proxy", proxy},
      {"no_proxy", direct},
      {"npm_config_proxy", proxy},
      {"npm_config_https_proxy", proxy},
      {"npm_config_noproxy", direct},
      {"PIP_PROXY", proxy},
      // Node's own fetch looks at HTTP_PROXY only when told to.
      {"NODE_USE_ENV_PROXY", "1"},
      {"GIT_CONFIG_COUNT", "1"},
      {"GIT_CONFIG_KEY_0", "http.proxy"},
      {"GIT_CONFIG_VALUE_0", proxy},
  };
}

}  // namespace forge::egress
