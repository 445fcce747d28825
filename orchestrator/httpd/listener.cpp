#include "orchestrator/httpd/listener.h"

#include <Poco/Exception.h>
#include <Poco/Net/SocketAddress.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "orchestrator/base/error.h"

namespace forge::httpd {
namespace {

// Connections that the kernel holds while the front thread is busy; beyond it clients see a delay, not a refusal.
constexpr int kBacklog = 512;

std::shared_ptr<const ListenerInfo> info(ListenerKind kind, std::string name) {
  return std::make_shared<ListenerInfo>(ListenerInfo{kind, std::move(name)});
}

Poco::Net::SocketAddress parse_address(const std::string& address) {
  try {
    return Poco::Net::SocketAddress(address);
  } catch (const Poco::Exception& e) {
    throw bad_input("server.listen", "'" + address + "' is not an address: " + e.displayText(), "for example 127.0.0.1:8700");
  }
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw bad_input("server.socket", "'" + path + "' is not a path of 1 to 107 bytes", "choose a shorter one");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// Removes the socket file that a dead process left behind. Only a refused connection proves that: nothing else is taken for dead.
void remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw system_failure("looking at '" + path + "'", errno);
  }
  if (!S_ISSOCK(status.st_mode)) throw public_failure(ErrorCode::conflict, "'" + path + "' exists and is not a socket");
  const UniqueFd probe = checked_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "making a socket");
  const int connected = ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (connected == 0 || errno != ECONNREFUSED) throw public_failure(ErrorCode::conflict, "another process listens on '" + path + "'");
  checked(::unlink(path.c_str()), "removing '" + path + "'");
}

void bind_and_listen(const UniqueFd& socket, const sockaddr* address, socklen_t length, const std::string& name) {
  if (::bind(socket.get(), address, length) != 0) {
    if (errno == EADDRINUSE) throw public_failure(ErrorCode::conflict, "'" + name + "' is in use by another process");
    throw system_failure("listening on '" + name + "'", errno);
  }
  checked(::listen(socket.get(), kBacklog), "listening on '" + name + "'");
}

}  // namespace

Listener listen_tcp(const std::string& text) {
  const Poco::Net::SocketAddress address = parse_address(text);
  UniqueFd socket = checked_fd(::socket(address.af(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "making a socket");
  // Connections of an earlier process that still wind down do not keep the port; a live listener does.
  const int on = 1;
  checked(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "setting SO_REUSEADDR");
  bind_and_listen(socket, address.addr(), address.length(), text);
  return {std::move(socket), info(ListenerKind::tcp, text), {}};
}

Listener listen_unix(const std::string& path) {
  const sockaddr_un address = unix_address(path);
  remove_stale(path, address);
  UniqueFd socket = checked_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "making a socket");
  // Before bind(), which gives the file the mode of the socket: there is no moment in which others may connect.
  checked(::fchmod(socket.get(), 0600), "setting the mode of a socket");
  bind_and_listen(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address, path);
  return {std::move(socket), info(ListenerKind::local, path), path};
}

Listener adopt_listener(UniqueFd socket, std::string name) {
  set_nonblocking(socket.get(), true);
  return {std::move(socket), info(ListenerKind::local, std::move(name)), {}};
}

std::string bound_address(const Listener& listener) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  checked(::getsockname(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), &length), "reading a socket's address");
  return Poco::Net::SocketAddress(reinterpret_cast<const sockaddr*>(&address), length).toString();
}

}  // namespace forge::httpd
