#include "tests/support/loopback_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::test {
namespace {

constexpr std::size_t kMostBytes = 64 << 20;

UniqueFd listen_tcp(int port) {
  UniqueFd fd = checked_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "making a socket");
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  checked(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "binding a loopback port");
  checked(::listen(fd.get(), 64), "listening");
  return fd;
}

UniqueFd listen_unix(const std::string& path) {
  UniqueFd fd = checked_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "making a socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw Error(ErrorCode::invalid_argument, "the socket path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  checked(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "binding " + path);
  checked(::listen(fd.get(), 64), "listening");
  return fd;
}

int port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  checked(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), "reading the port");
  return address.sin_family == AF_INET ? ntohs(address.sin_port) : 0;
}

SeenRequest parse_head(std::string_view head) {
  SeenRequest request;
  for (const std::string_view raw : split_lines(head)) {
    const std::string_view line = trim(raw);
    if (request.method.empty()) {
      const auto first = line.find(' ');
      request.method = line.substr(0, first);
      request.target = line.substr(first + 1, line.rfind(' ') - first - 1);
    } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
      request.headers.emplace_back(lower_ascii(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
    }
  }
  return request;
}

}  // namespace

std::string SeenRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::optional<std::string> Connection::read_to(std::string_view mark) {
  while (true) {
    if (const auto at = unread_.find(mark); at != std::string::npos) {
      std::string head = unread_.substr(0, at + mark.size());
      unread_.erase(0, head.size());
      return head;
    }
    const std::string piece = read_some(fd_.get(), 64 << 10, stop_);
    if (piece.empty() || unread_.size() > kMostBytes) return {};
    unread_ += piece;
  }
}

std::optional<SeenRequest> Connection::read_request() {
  const auto head = read_to("\r\n\r\n");
  if (!head) return {};
  SeenRequest request = parse_head(*head);
  const std::string length = request.header("content-length");
  const std::size_t wanted = length.empty() ? 0 : std::stoul(length);
  while (unread_.size() < wanted) {
    const std::string piece = read_some(fd_.get(), 64 << 10, stop_);
    if (piece.empty()) return {};
    unread_ += piece;
  }
  request.body = unread_.substr(0, wanted);
  unread_.erase(0, wanted);
  return request;
}

void Connection::send(std::string_view bytes) { write_all(fd_.get(), bytes, stop_); }

void Connection::wait_gone() {
  while (!read_some(fd_.get(), 4096, stop_).empty()) {
  }
}

void Connection::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  fd_.reset();
}

struct LoopbackServer::State {
  State(UniqueFd socket, Handler run) : listener(std::move(socket)), handler(std::move(run)) {
    acceptor = std::jthread([this] { accept_all(); });
  }
  ~State() {
    stopping.request_stop();
    acceptor.join();
    workers.clear();
  }
  void accept_all();
  void serve(UniqueFd fd);

  UniqueFd listener;
  Handler handler;
  std::string socket_path;
  std::atomic<int> accepted = 0;
  std::stop_source stopping;
  std::vector<std::jthread> workers;  // touched by the acceptor only, until that has ended
  std::jthread acceptor;
};

void LoopbackServer::State::accept_all() {
  const Stop stop(stopping.get_token());
  while (!stop.cancelled()) {
    try {
      wait_ready(listener.get(), POLLIN, stop);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) return;
      throw;
    }
    const int fd = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ++accepted;
    workers.emplace_back([this, fd] { serve(UniqueFd(fd)); });
  }
}

void LoopbackServer::State::serve(UniqueFd fd) {
  Connection connection(std::move(fd), Stop(stopping.get_token()));
  try {
    handler(connection);
  } catch (const Error& error) {
    // A client that hung up, or the end of the test; anything else is a fault of the test itself and ends it loudly.
    if (error.code() != ErrorCode::unavailable && error.code() != ErrorCode::cancelled) throw;
  }
}

LoopbackServer::LoopbackServer(Handler handler, int port) : state_(std::make_unique<State>(listen_tcp(port), std::move(handler))) {}

LoopbackServer::LoopbackServer(Handler handler, const std::string& socket_path)
    : state_(std::make_unique<State>(listen_unix(socket_path), std::move(handler))) {
  state_->socket_path = socket_path;
}

LoopbackServer::~LoopbackServer() = default;

int LoopbackServer::port() const { return port_of(state_->listener.get()); }

std::string LoopbackServer::url() const {
  return state_->socket_path.empty() ? "http://127.0.0.1:" + std::to_string(port()) : std::string("http://localhost");
}

int LoopbackServer::connections() const { return state_->accepted.load(); }

std::string http_answer(int status, std::string_view body, std::string_view headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Scripted\r\n";
  text += headers;
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return text.append(body);
}

}  // namespace forge::test
