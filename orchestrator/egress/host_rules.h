#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forge::egress {

/// Which hosts and ports a list names. An entry is a host ("example.com", "192.0.2.1", "[2001:db8::1]") or all names below one
/// ("*.example.com", not example.com itself), with ":port" for one port; without it ports 80 and 443 are meant.
class HostRules {
 public:
  /// Throws bad_input in `field`[i] for an entry that is none of these.
  static HostRules parse(const std::vector<std::string>& entries, const std::string& field);
  /// The same of hosts that are to be reached: throws also for localhost and for an address outside the public internet, which the proxy
  /// never dials.
  static HostRules parse_allowed(const std::vector<std::string>& entries, const std::string& field);

  /// `host` as canonical_host() gives it.
  bool match(std::string_view host, int port) const;
  /// Some entry names the host, whatever its ports.
  bool match_host(std::string_view host) const;
  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    std::string host;    // without "*."
    bool below = false;  // the entry began with "*."
    int port = 0;        // 0 = 80 and 443
    bool names(std::string_view asked) const;
  };
  std::vector<Rule> rules_;
};

/// Lower case, without a last dot and the brackets of an IPv6 address. Empty when it is not a host name or address: other characters than
/// letters, digits, '-', '_', '.', a label over 63 bytes, more than 253 bytes.
std::string canonical_host(std::string_view host);
/// 1 to 65535 in digits alone, else 0.
int parse_port(std::string_view text);

}  // namespace forge::egress
