#include "orchestrator/httpd/front.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "orchestrator/base/error.h"
#include "orchestrator/httpd/exchange.h"

namespace forge::httpd {
namespace {

using std::chrono::milliseconds;

// What an epoll event is about: a connection's descriptor, a listener's number with this bit, or the bell.
constexpr std::uint64_t kListenerBit = 1ULL << 40;
constexpr std::uint64_t kBell = ~0ULL;
constexpr int kEventsAtOnce = 128;
constexpr int kAcceptsAtOnce = 64;
constexpr std::size_t kReadBytes = 16 << 10;
constexpr milliseconds kPauseWithoutDescriptors{100};
constexpr std::size_t kTurnedAwayAtOnce = 256;

std::string address_text(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text.data(), text.size());
  } else if (address.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text.data(), text.size());
  }
  return text.data();
}

void watch(int epoll, int operation, int fd, std::uint64_t about, std::uint32_t events = EPOLLIN) {
  epoll_event event{.events = events, .data = {.u64 = about}};
  checked(::epoll_ctl(epoll, operation, fd, &event), "watching a connection");
}

Refusal overloaded(std::string message) { return {503, ErrorCode::busy, std::move(message), "try again in a moment"}; }

}  // namespace

Front::Front(const ServerOptions& options, WorkQueue& queue, Census& census, Log& log, std::function<void()> queued)
    : options_(options),
      queue_(queue),
      census_(census),
      log_(log),
      queued_(std::move(queued)),
      epoll_(checked_fd(::epoll_create1(EPOLL_CLOEXEC), "making an epoll")),
      clients_(epoll_.get()) {
  watch(epoll_.get(), EPOLL_CTL_ADD, bell_.fd(), kBell);
}

Front::~Front() { close_all(); }

void Front::close_all() {
  obey();  // what was handed over while the thread ended is closed too
  while (!listeners_.empty()) close_listener(listeners_.begin()->first);
  connections_.clear();
}

void Front::run(const std::stop_token& token) {
  std::array<epoll_event, kEventsAtOnce> events{};
  while (!token.stop_requested()) {
    const auto wake_at = std::min(next_deadline_, paused_until_);
    const Stop until({}, wake_at);
    const int ready = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, until.poll_timeout_ms());
    if (ready < 0 && errno != EINTR) throw system_failure("waiting for connections", errno);
    for (int i = 0; i < ready; ++i) {
      const std::uint64_t about = events[static_cast<std::size_t>(i)].data.u64;
      if (about == kBell) {
        bell_.quiet();
      } else if (ClientWatch::is_about_a_client(about)) {
        clients_.left(about);
      } else if ((about & kListenerBit) != 0) {
        const auto listener = listeners_.find(about & ~kListenerBit);
        if (listener != listeners_.end()) accept_from(listener->second);
      } else {
        on_ready(static_cast<int>(about));
      }
    }
    obey();
    if (SteadyClock::now() >= next_deadline_) expire();
    if (SteadyClock::now() >= paused_until_) resume_listeners();
  }
}

std::uint64_t Front::add_listener(Listener listener) {
  auto commands = commands_.lock();
  const std::uint64_t id = commands->next_listener++;
  commands->added.emplace_back(id, std::move(listener));
  bell_.ring();
  return id;
}

void Front::remove_listener(std::uint64_t id) {
  commands_.lock()->removed.push_back(id);
  bell_.ring();
}

void Front::give_back(std::unique_ptr<Connection> connection, Next next) {
  if (next == Next::close || next == Next::taken) return;
  commands_.lock()->returned.emplace_back(std::move(connection), next);
  bell_.ring();
}

void Front::drain() {
  commands_.lock()->drain = true;
  bell_.ring();
}

void Front::obey() {
  Commands todo;
  {
    auto commands = commands_.lock();
    todo.added.swap(commands->added);
    todo.removed.swap(commands->removed);
    todo.returned.swap(commands->returned);
    todo.drain = commands->drain;
  }
  for (auto& [id, listener] : todo.added) {
    const int fd = listener.socket.get();
    listeners_.emplace(id, std::move(listener));
    watch(epoll_.get(), EPOLL_CTL_ADD, fd, kListenerBit | id);
  }
  for (const std::uint64_t id : todo.removed) close_listener(id);
  for (auto& [connection, next] : todo.returned) take_back(std::move(connection), next);
  if (todo.drain && !draining_) start_draining();
}

// Lingering is what makes an early answer arrive: closing while the client still sends would reset the connection, and a reset throws
// away what was not read yet, our answer with it.
void Front::take_back(std::unique_ptr<Connection> connection, Next next) {
  const int fd = connection->socket.get();
  if (next == Next::linger) {
    ::shutdown(fd, SHUT_WR);
    return park(std::move(connection), Phase::linger);
  }
  if (next == Next::send) return park(std::move(connection), Phase::answer);
  if (next == Next::await_body) return park(std::move(connection), Phase::body);
  const bool still_listening =
      std::any_of(listeners_.begin(), listeners_.end(), [&](const auto& entry) { return entry.second.info == connection->listener; });
  if (!still_listening) return;  // closed with its listener
  park(std::move(connection), Phase::idle);
  advance(fd);
}

void Front::accept_from(Listener& listener) {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    UniqueFd socket(::accept4(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      welcome(std::move(socket), address_text(address), listener);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return pause_listeners();  // the waiting connection stays readable: without a pause this would spin
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;  // nobody waits any more
    }
  }
}

void Front::welcome(UniqueFd socket, const std::string& peer, const Listener& listener) {
  const int fd = socket.get();
  if (!peer.empty()) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  auto connection =
      std::make_unique<Connection>(Connection{std::move(socket), listener.info, peer, census_.enter(peer), HeadScanner(options_.head), {}});
  const bool counted = connection->ticket != nullptr;  // the ticket lives in the connection and leaves with it
  // Those over the cap are told so, but not in any number: lingering takes a descriptor too.
  if (!counted && connections_.size() >= options_.max_connections + kTurnedAwayAtOnce) return;
  park(std::move(connection), Phase::idle);
  if (!counted) refuse(connections_.find(fd), overloaded("too many connections"));
}

void Front::park(std::unique_ptr<Connection> connection, Phase phase) {
  const int fd = connection->socket.get();
  Parked& parked = connections_[fd];
  parked = {std::move(connection), phase, {}};
  set_deadline(parked, time_for(phase));
  watch(epoll_.get(), EPOLL_CTL_ADD, fd, static_cast<std::uint64_t>(fd), phase == Phase::answer ? EPOLLOUT : EPOLLIN);
}

milliseconds Front::time_for(Phase phase) const {
  switch (phase) {
    case Phase::idle: return options_.idle;
    case Phase::head: return options_.head_deadline;
    case Phase::body: return options_.body_deadline;
    case Phase::answer: return options_.write_deadline;
    case Phase::linger: return options_.linger;
  }
  return options_.idle;
}

std::unique_ptr<Connection> Front::unpark(Connections::iterator at) {
  std::unique_ptr<Connection> connection = std::move(at->second.connection);
  checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, at->first, nullptr), "letting a connection go");
  if (at->second.phase == Phase::answer) queue_.done();
  connections_.erase(at);
  return connection;
}

void Front::set_deadline(Parked& parked, milliseconds from_now) {
  parked.deadline = SteadyClock::now() + from_now;
  next_deadline_ = std::min(next_deadline_, parked.deadline);
}

void Front::on_ready(int fd) {
  const auto at = connections_.find(fd);
  if (at == connections_.end()) return;
  if (at->second.phase == Phase::linger) return discard(at);
  if (at->second.phase == Phase::answer) return send_more(at);
  std::array<char, kReadBytes> bytes;  // NOLINT: filled by recv
  const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (got == 0 && at->second.phase == Phase::body) return refuse(at, {400, ErrorCode::invalid_argument, "the body ended early", {}});
  if (got <= 0) {
    unpark(at);
    return;
  }
  at->second.connection->received.append(bytes.data(), static_cast<std::size_t>(got));
  advance(fd);
}

void Front::send_more(Connections::iterator at) {
  Connection& connection = *at->second.connection;
  const std::string_view rest = std::string_view(connection.unsent).substr(connection.sent);
  const ssize_t sent = ::send(at->first, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  connection.sent += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  if (sent >= 0 && connection.sent < connection.unsent.size()) return;
  std::unique_ptr<Connection> done = unpark(at);
  if (sent < 0) return;
  done->unsent = {};
  const Next then = done->then;
  take_back(std::move(done), then);
}

void Front::advance(int fd) {
  const auto at = connections_.find(fd);
  Parked& parked = at->second;
  Connection& connection = *parked.connection;
  if (connection.received.empty()) return;
  if (parked.phase == Phase::body) {
    if (connection.received.size() >= connection.awaited) dispatch(at);
    return;
  }
  // Bytes may be here without an event: a client may send its next request before it has our answer.
  if (auto refusal = connection.scanner.scan(connection.received)) return refuse(at, *refusal);
  if (connection.scanner.head_bytes() != 0) return dispatch(at);
  if (parked.phase == Phase::head) return;
  parked.phase = Phase::head;  // its deadline counts from the first byte: a client that drips does not move it
  set_deadline(parked, time_for(Phase::head));
}

void Front::dispatch(Connections::iterator at) {
  // Out of epoll before a worker has it: from there on until give_back() the connection is the worker's alone.
  if (draining_) return refuse(at, overloaded("the server is stopping"));
  std::unique_ptr<Connection> connection = unpark(at);
  if (queue_.push(connection)) return queued_();
  const int fd = connection->socket.get();
  park(std::move(connection), Phase::idle);
  refuse(connections_.find(fd), overloaded("the server is busy"));
}

void Front::refuse(Connections::iterator at, const Refusal& refusal) {
  const Response response = refusal_response(refusal);
  const std::string text = response_head(response, response.body.size(), "Connection: close\r\n") + response.body;
  // One small write: a client that does not even take this gets nothing.
  ::send(at->first, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(at->first, SHUT_WR);
  at->second.phase = Phase::linger;
  set_deadline(at->second, time_for(Phase::linger));
}

void Front::discard(Connections::iterator at) {
  std::array<char, kReadBytes> bytes;  // NOLINT: filled by recv
  const ssize_t got = ::recv(at->first, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) unpark(at);
}

void Front::expire() {
  const auto now = SteadyClock::now();
  // All of them are looked at, and not a heap kept: this runs once per due deadline, and a few thousand comparisons are microseconds.
  next_deadline_ = SteadyClock::time_point::max();
  std::vector<int> overdue;
  for (const auto& [fd, parked] : connections_) {
    if (parked.deadline <= now) {
      overdue.push_back(fd);
    } else {
      next_deadline_ = std::min(next_deadline_, parked.deadline);
    }
  }
  for (const int fd : overdue) {
    const auto at = connections_.find(fd);
    if (at->second.phase == Phase::head || at->second.phase == Phase::body) {
      const std::string what = at->second.phase == Phase::head ? "the request's head" : "the body";
      refuse(at, {408, ErrorCode::timed_out, what + " did not arrive in time", {}});
    } else {
      unpark(at);
    }
  }
}

void Front::close_listener(std::uint64_t id) {
  const auto at = listeners_.find(id);
  if (at == listeners_.end()) return;
  if (!at->second.unlink_path.empty()) ::unlink(at->second.unlink_path.c_str());
  std::vector<int> idle;
  for (const auto& [fd, parked] : connections_)
    if (parked.phase == Phase::idle && parked.connection->listener == at->second.info) idle.push_back(fd);
  for (const int fd : idle) unpark(connections_.find(fd));
  listeners_.erase(at);  // closing the descriptor takes it out of epoll
}

void Front::start_draining() {
  draining_ = true;
  while (!listeners_.empty()) close_listener(listeners_.begin()->first);
}

void Front::pause_listeners() {
  log_.warn("no descriptor left for another connection", {{"connections", connections_.size()}});
  for (const auto& [id, listener] : listeners_) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener.socket.get(), nullptr);
  paused_until_ = SteadyClock::now() + kPauseWithoutDescriptors;
}

void Front::resume_listeners() {
  paused_until_ = SteadyClock::time_point::max();
  for (const auto& [id, listener] : listeners_) watch(epoll_.get(), EPOLL_CTL_ADD, listener.socket.get(), kListenerBit | id);
}

}  // namespace forge::httpd
