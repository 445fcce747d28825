#include "tests/support/loopback.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "orchestrator/base/error.h"

namespace forge::test {
namespace {

sockaddr_in loopback_address(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

Listener listen_on_loopback() {
  Listener listener;
  listener.fd = checked_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "making a listener");
  sockaddr_in address = loopback_address(0);
  socklen_t size = sizeof address;
  checked(::bind(listener.fd.get(), reinterpret_cast<sockaddr*>(&address), size), "binding a listener");
  checked(::listen(listener.fd.get(), 256), "listening");
  checked(::getsockname(listener.fd.get(), reinterpret_cast<sockaddr*>(&address), &size), "reading a port");
  listener.port = ntohs(address.sin_port);
  return listener;
}

UniqueFd connect_to_loopback(int port) {
  UniqueFd fd = checked_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "making a socket");
  const sockaddr_in address = loopback_address(port);
  checked(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connecting");
  return fd;
}

TcpServer::TcpServer(Handler handler) {
  Listener made = listen_on_loopback();
  listener_ = std::move(made.fd);
  port_ = made.port;
  thread_ = std::jthread([this, handler = std::move(handler)](std::stop_token token) {
    const Stop stop(std::move(token));
    while (true) {
      try {
        wait_ready(listener_.get(), POLLIN, stop);
        const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection) handler(connection.get(), stop);
      } catch (const Error& e) {
        if (e.code() == ErrorCode::cancelled) return;
      }
    }
  });
}

std::string read_until(int fd, std::string_view end, const Stop& stop) {
  std::string text;
  while (text.find(end) == std::string::npos) {
    const std::string piece = read_some(fd, 4096, stop);
    if (piece.empty()) break;
    text += piece;
  }
  return text;
}

}  // namespace forge::test
