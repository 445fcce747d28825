#include "orchestrator/egress/proxy_connection.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "orchestrator/base/error.h"

namespace forge::egress {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;  // per direction
constexpr std::string_view kEndOfHead = "\r\n\r\n";
// A client that is still sending when we close would get a reset in place of our answer.
constexpr std::chrono::seconds kLinger{2};

bool try_later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// A proxy that waits to fill packets adds its delay to every handshake.
void send_at_once(const UniqueFd& fd) {
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

ProxyConnection::ProxyConnection(UniqueFd client, const ProxyOptions& options, NetworkLog& log)
    : client_(std::move(client)), options_(options), log_(log) {
  send_at_once(client_);
  enter(Phase::head, options_.limits.head_time);
}

void ProxyConnection::enter(Phase phase, std::chrono::milliseconds time) {
  phase_ = phase;
  deadline_ = SteadyClock::now() + time;
}

short ProxyConnection::client_events() const {
  switch (phase_) {
    case Phase::head: return POLLIN;
    case Phase::answering: return down_.waiting.empty() ? POLLIN : POLLOUT;
    case Phase::relaying: {
      const bool wants_more = !up_.ended && up_.waiting.size() < kBufferBytes;
      return static_cast<short>((wants_more ? POLLIN : 0) | (down_.waiting.empty() ? 0 : POLLOUT));
    }
    case Phase::resolving:
    case Phase::connecting:
    case Phase::closed: return 0;
  }
  return 0;
}

short ProxyConnection::server_events() const {
  if (phase_ == Phase::connecting) return POLLOUT;
  if (phase_ != Phase::relaying) return 0;
  const bool wants_more = !down_.ended && down_.waiting.size() < kBufferBytes;
  return static_cast<short>((wants_more ? POLLIN : 0) | (up_.waiting.empty() ? 0 : POLLOUT));
}

void ProxyConnection::on_ready(short client, short server) {
  switch (phase_) {
    case Phase::head:
      if (client != 0) read_head();
      return;
    case Phase::connecting:
      if (server != 0) finish_connect();
      return;
    case Phase::relaying: relay(client, server); return;
    case Phase::answering:
      if (client != 0) drain_client();
      return;
    case Phase::resolving:
    case Phase::closed: return;
  }
}

void ProxyConnection::on_deadline() {
  if (phase_ == Phase::head) return answer("408 Request Timeout", "forge: the request did not arrive in time\n");
  if (phase_ == Phase::resolving) return refuse(Verdict::unresolved, "has no address: the name server did not answer in time", "");
  if (phase_ == Phase::connecting) return refuse(Verdict::unreachable, "did not take the connection in time", "");
  phase_ = Phase::closed;
}

void ProxyConnection::read_head() {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::recv(client_.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && try_later()) return;
  if (got <= 0) {
    phase_ = Phase::closed;
    return;
  }
  head_.append(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t end = head_.find(kEndOfHead);
  const std::size_t head_bytes = end == std::string::npos ? head_.size() : end + kEndOfHead.size();
  if (head_bytes > options_.limits.max_head_bytes)
    return answer("431 Request Header Fields Too Large", fmt::format("forge: the head is over {} bytes\n", options_.limits.max_head_bytes));
  if (end == std::string::npos) return;
  up_.waiting = head_.substr(head_bytes);
  head_.resize(head_bytes);
  decide();
}

// Policy before the name server: a name that is not allowed is never asked for, so that names cannot carry data out.
void ProxyConnection::decide() {
  try {
    request_ = parse_proxy_request(head_);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument) throw;
    return answer("400 Bad Request", fmt::format("forge: {}\n", e.client_text().empty() ? e.what() : e.client_text()));
  }
  if (options_.deny.match_host(request_.host))
    return refuse(Verdict::denied_host, "is denied by this server's configuration (network.deny)",
                  "network.deny in the configuration names it");
  if (!options_.allow.match(request_.host, request_.port))
    return refuse(Verdict::denied_host, "is not allowed in this sandbox", how_to_allow());
  if (log_.total_bytes() >= options_.limits.max_bytes)
    return refuse(Verdict::denied_bytes, fmt::format("cannot be reached: this sandbox has used up its {} bytes", options_.limits.max_bytes),
                  "");
  if (const auto address = Address::parse(request_.host)) return dial({*address});
  enter(Phase::resolving, options_.limits.connect_time);
}

void ProxyConnection::on_resolved(const std::vector<Address>& addresses) {
  if (phase_ != Phase::resolving) return;
  if (addresses.empty()) return refuse(Verdict::unresolved, "has no address", "");
  dial(addresses);
}

// The one place where addresses come in, from a name server or by number: what passes here is dialled as it is.
void ProxyConnection::dial(const std::vector<Address>& addresses) {
  for (const Address& address : addresses)
    if (address.is_public() || options_.allow_private_for_tests) addresses_.push_back(address);
  if (addresses_.empty()) {
    const std::string why = fmt::format("stands for {}, which is no public address", addresses.front().text());
    return refuse(Verdict::denied_address, why, "sandboxes reach public addresses only");
  }
  std::reverse(addresses_.begin(), addresses_.end());
  log_.note(request_.host, request_.port, Verdict::allowed, "");
  enter(Phase::connecting, options_.limits.connect_time);
  connect_next();
}

/// In the resolver's order; a family that this machine does not speak fails at once.
void ProxyConnection::connect_next() {
  while (!addresses_.empty()) {
    const Address address = addresses_.back();
    addresses_.pop_back();
    server_.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!server_) continue;
    const Address::Socket target = address.with_port(request_.port);
    if (::connect(server_.get(), target.get(), target.size) == 0 || errno == EINPROGRESS) return;
  }
  refuse(Verdict::unreachable, "did not take the connection", "");
}

void ProxyConnection::finish_connect() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(server_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return connect_next();
  send_at_once(server_);
  enter(Phase::relaying, options_.limits.idle_time);
  // What came with the head counts and is gated like all that follows.
  std::string early = std::move(up_.waiting);
  if (!counted(early.size() + request_.head.size())) return;
  early.resize(request_.body.take(early));
  up_.waiting = request_.head + early;
  up_.ended = request_.body.finished();
  if (request_.tunnel) down_.waiting = "HTTP/1.1 200 Connection established\r\n\r\n";
  relay(0, 0);
}

void ProxyConnection::relay(short client, short server) {
  try {
    if (client != 0 && !up_.ended) pull(client_, up_);
    if (server != 0 && !down_.ended) pull(server_, down_);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument) throw;
    phase_ = Phase::closed;  // a body that breaks its own framing: the answer may have begun, so none is sent
  }
  if (phase_ == Phase::relaying) push(server_, up_);
  if (phase_ == Phase::relaying) push(client_, down_);
  if (phase_ != Phase::relaying || !down_.shut) return;
  if (!request_.tunnel) {
    enter(Phase::answering, kLinger);
  } else if (up_.shut) {
    phase_ = Phase::closed;
  }
}

/// Reads once. Bytes behind the end of a plain request are dropped with the connection: each would be a request nobody looked at.
void ProxyConnection::pull(const UniqueFd& from, Pump& pump) {
  std::array<char, 16384> buffer{};
  const ssize_t got = ::recv(from.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && try_later()) return;
  if (got < 0) {
    phase_ = Phase::closed;
    return;
  }
  if (got == 0) {
    pump.ended = true;
    return;
  }
  deadline_ = SteadyClock::now() + options_.limits.idle_time;
  std::string_view data(buffer.data(), static_cast<std::size_t>(got));
  if (!counted(data.size())) return;
  if (&pump == &up_) {
    data = data.substr(0, request_.body.take(data));
    pump.ended = request_.body.finished();
  }
  pump.waiting += data;
}

/// False when the bytes would pass the limit: then nothing of them is sent, and the connection is over.
bool ProxyConnection::counted(std::size_t bytes) {
  log_.count(request_.host, request_.port, static_cast<std::int64_t>(bytes));
  if (log_.total_bytes() <= options_.limits.max_bytes) return true;
  log_.note(request_.host, request_.port, Verdict::denied_bytes,
            fmt::format("the sandbox has used up its {} bytes", options_.limits.max_bytes));
  phase_ = Phase::closed;
  return false;
}

void ProxyConnection::push(const UniqueFd& to, Pump& pump) {
  if (!pump.waiting.empty()) {
    const ssize_t sent = ::send(to.get(), pump.waiting.data(), pump.waiting.size(), MSG_NOSIGNAL);
    if (sent < 0 && !try_later()) phase_ = Phase::closed;
    if (sent < 0) return;
    pump.waiting.erase(0, static_cast<std::size_t>(sent));
  }
  if (!pump.waiting.empty() || !pump.ended || pump.shut) return;
  pump.shut = true;
  // Servers take a half-closed connection for one that was given up: a plain request ends by its framing alone.
  if (request_.tunnel || &pump == &down_) ::shutdown(to.get(), SHUT_WR);
}

/// First our answer goes out, then what the client still sends is thrown away until it closes.
void ProxyConnection::drain_client() {
  if (!down_.waiting.empty()) return push(client_, down_);
  std::array<char, 16384> buffer{};
  const ssize_t got = ::recv(client_.get(), buffer.data(), buffer.size(), 0);
  if (got == 0 || (got < 0 && !try_later())) phase_ = Phase::closed;
}

std::string ProxyConnection::where() const {
  const bool needs_brackets = request_.host.find(':') != std::string::npos;
  return needs_brackets ? fmt::format("[{}]:{}", request_.host, request_.port) : fmt::format("{}:{}", request_.host, request_.port);
}

/// Exactly what the person has to type.
std::string ProxyConnection::how_to_allow() const {
  const bool usual_port = request_.port == 80 || request_.port == 443;
  return "allow it with --allow-host " + (usual_port ? request_.host : where());
}

/// Plain text: programs print the body of a failed CONNECT, or at least its status.
void ProxyConnection::refuse(Verdict verdict, const std::string& reason, const std::string& hint) {
  log_.note(request_.host, request_.port, verdict, hint);
  const bool denied = verdict == Verdict::denied_host || verdict == Verdict::denied_address || verdict == Verdict::denied_bytes;
  answer(denied ? "403 Forbidden" : "502 Bad Gateway", fmt::format("forge: {} {}{}{}\n", where(), reason, hint.empty() ? "" : "; ", hint));
}

void ProxyConnection::answer(std::string_view status, const std::string& body) {
  server_.reset();
  down_.waiting = fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                              status, body.size(), body);
  down_.ended = true;
  enter(Phase::answering, kLinger);
}

}  // namespace forge::egress
