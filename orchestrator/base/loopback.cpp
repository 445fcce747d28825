#include "orchestrator/base/loopback.h"

namespace forge {

bool is_loopback_host(std::string_view host) {
  const bool address = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "::1" || (address && host.starts_with("127."));
}

bool is_loopback_authority(std::string_view authority) {
  // What stands before an '@' is a user, whatever it looks like.
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  if (authority.starts_with('[')) return is_loopback_host(authority.substr(1, authority.find(']') - 1));
  return is_loopback_host(authority.substr(0, authority.find(':')));
}

}  // namespace forge
