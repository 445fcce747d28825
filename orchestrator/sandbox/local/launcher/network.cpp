#include "orchestrator/sandbox/local/launcher/network.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "orchestrator/sandbox/local/launcher/step.h"

namespace forge::sandbox::local::launcher {
namespace {

constexpr int kBacklog = 128;

UniqueFd open_socket(int type) { return UniqueFd(static_cast<int>(must(::socket(AF_INET, type | SOCK_CLOEXEC, 0), "making a socket"))); }

}  // namespace

void raise_loopback() {
  const UniqueFd any = open_socket(SOCK_DGRAM);
  ifreq request{};
  std::memcpy(static_cast<char*>(request.ifr_name), "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  must(::ioctl(any.get(), SIOCSIFFLAGS, &request), "raising the loopback interface");
}

std::vector<UniqueFd> open_listeners(const std::vector<int>& ports) {
  std::vector<UniqueFd> listeners;
  for (const int port : ports) {
    UniqueFd listener = open_socket(SOCK_STREAM);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string what = "listening on port " + std::to_string(port) + " inside";
    must(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), what);
    must(::listen(listener.get(), kBacklog), what);
    listeners.push_back(std::move(listener));
  }
  return listeners;
}

}  // namespace forge::sandbox::local::launcher
