#pragma once

#include <string_view>

namespace forge {

/// localhost, an address of 127.0.0.0/8 in digits, or ::1 (without brackets): what surely stays on this machine. "127.example.com" is a
/// name that anybody may register.
bool is_loopback_host(std::string_view host);
/// The same of an authority: "user@host:port", "[::1]:port", "host".
bool is_loopback_authority(std::string_view authority);

}  // namespace forge
