#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forge::egress {

/// An IPv4 or IPv6 address, without a port.
class Address {
 public:
  /// Dotted IPv4 with four decimal parts, or IPv6 without brackets and scope. Nothing for all else, also not "127.1" or "0x7f000001".
  static std::optional<Address> parse(std::string_view text);

  /// Belongs to the public internet: not private, loopback, link-local (where clouds keep their metadata), shared, documentation,
  /// multicast, reserved, nor an IPv6 form that carries an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo), which would hide one of
  /// these.
  bool is_public() const;
  std::string text() const;
  int family() const { return family_; }

  struct Socket {
    sockaddr_storage storage{};
    socklen_t size = 0;
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  };
  /// For connect().
  Socket with_port(int port) const;
  bool operator==(const Address&) const = default;

 private:
  int family_ = AF_INET;
  std::array<std::uint8_t, 16> bytes_{};  // the first 4 for IPv4
};

}  // namespace forge::egress
