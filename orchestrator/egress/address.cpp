#include "orchestrator/egress/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace forge::egress {
namespace {

/// A block of addresses: the first `bits` of `bytes`.
struct Block {
  std::array<std::uint8_t, 16> bytes;
  int bits;
};

// IANA's special-purpose registry for IPv4, plus Azure's host channel 168.63.129.16, which answers inside its clouds from a public block.
constexpr std::array<Block, 17> kSpecial4{{
    {{0}, 8},         // this network
    {{10}, 8},        // private
    {{100, 64}, 10},  // shared between providers; cloud metadata of Alibaba
    {{127}, 8},       // loopback
    {{168, 63, 129, 16}, 32},
    {{169, 254}, 16},   // link-local; cloud metadata
    {{172, 16}, 12},    // private
    {{192, 0, 0}, 24},  // protocol assignments
    {{192, 0, 2}, 24},  // documentation
    {{192, 31, 196}, 24},
    {{192, 52, 193}, 24},
    {{192, 88, 99}, 24},   // 6to4 relays
    {{192, 168}, 16},      // private
    {{198, 18}, 15},       // benchmarks
    {{198, 51, 100}, 24},  // documentation
    {{203, 0, 113}, 24},   // documentation
    {{224}, 3},            // multicast, reserved, broadcast
}};

// Of IPv6 only 2000::/3 is given out to the public; inside it these are not, or carry an IPv4 address.
constexpr Block kGlobal6{{0x20}, 3};
constexpr std::array<Block, 5> kSpecial6{{
    {{0x20, 0x01, 0x00}, 23},        // protocol assignments, Teredo among them
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x20, 0x02}, 16},              // 6to4
    {{0x3f, 0xff, 0x00}, 20},        // documentation
    {{0x20, 0x01, 0x00, 0x20}, 28},  // ORCHIDv2
}};

/// Whole bytes first, then the bits of the last one.
bool inside(const std::array<std::uint8_t, 16>& address, const Block& block) {
  const auto whole = static_cast<std::size_t>(block.bits / 8);
  if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole), block.bytes.begin())) return false;
  const int rest = block.bits % 8;
  const int mask = (0xff << (8 - rest)) & 0xff;
  return rest == 0 || (address.at(whole) & mask) == (block.bytes.at(whole) & mask);
}

}  // namespace

// inet_pton alone: the older functions take "127.1" and octal numbers, which a rule for "127.0.0.1" would miss.
std::optional<Address> Address::parse(std::string_view text) {
  Address address;
  const std::string copy(text);
  if (copy.size() != std::strlen(copy.c_str())) return {};
  if (::inet_pton(AF_INET, copy.c_str(), address.bytes_.data()) == 1) return address;
  address.family_ = AF_INET6;
  if (::inet_pton(AF_INET6, copy.c_str(), address.bytes_.data()) == 1) return address;
  return {};
}

bool Address::is_public() const {
  const auto holds = [this](const Block& block) { return inside(bytes_, block); };
  if (family_ == AF_INET) return std::none_of(kSpecial4.begin(), kSpecial4.end(), holds);
  return holds(kGlobal6) && std::none_of(kSpecial6.begin(), kSpecial6.end(), holds);
}

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  ::inet_ntop(family_, bytes_.data(), buffer.data(), buffer.size());
  return buffer.data();
}

Address::Socket Address::with_port(int port) const {
  Socket socket;
  if (family_ == AF_INET) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&in.sin_addr, bytes_.data(), sizeof in.sin_addr);
    std::memcpy(&socket.storage, &in, sizeof in);
    socket.size = sizeof in;
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&in.sin6_addr, bytes_.data(), sizeof in.sin6_addr);
    std::memcpy(&socket.storage, &in, sizeof in);
    socket.size = sizeof in;
  }
  return socket;
}

}  // namespace forge::egress
