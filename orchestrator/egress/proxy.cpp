#include "orchestrator/egress/proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <exception>
#include <map>
#include <thread>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/egress/network_log.h"
#include "orchestrator/egress/proxy_connection.h"

namespace forge::egress {
namespace {

// An installer opens many connections to one host; asking once spares a process each.
constexpr std::chrono::seconds kAnswerLife{30};
constexpr std::chrono::seconds kResolveTime{10};
// Below a rule with a wildcard a sandbox can think up names without end.
constexpr std::size_t kMostKnown = 1000;
// When the process has no descriptor left, the listener stays readable: look again later instead of spinning.
constexpr std::chrono::milliseconds kAcceptPause{200};
constexpr int kLongestPollMs = 60'000;

}  // namespace

class Proxy::Server {
 public:
  Server(UniqueFd listener, ProxyOptions options, TraceSink* trace, Log& log)
      : listener_(std::move(listener)), options_(std::move(options)), network_(trace), log_(log), wake_(make_pipe()) {
    if (!options_.resolve) options_.resolve = system_resolver();
    set_nonblocking(listener_.get(), true);
    set_nonblocking(wake_.read.get(), true);
    set_nonblocking(wake_.write.get(), true);
    resolver_ = std::jthread([this](std::stop_token token) { guarded("resolver", [&] { resolve_all(token); }); });
    server_ = std::jthread([this](std::stop_token token) {
      guarded("proxy", [&] { serve(Stop(std::move(token))); });
      listener_.reset();  // first: who sees the end of a connection finds nobody to ask again
      connections_.clear();
      guarded("proxy's totals", [&] { network_.finish(); });
    });
  }

 private:
  struct Question {
    std::uint64_t connection;
    std::string host;
  };
  struct Answer {
    std::uint64_t connection;
    std::vector<Address> addresses;  // empty = there are none
  };

  /// The end of a thread: what stopped it is logged, and what it served is closed by the caller.
  template <typename Body>
  void guarded(std::string_view what, Body&& body) {
    try {
      body();
    } catch (const std::exception& e) {
      const auto* error = dynamic_cast<const Error*>(&e);
      const bool asked = error != nullptr && error->code() == ErrorCode::cancelled;
      if (!asked) log_.error("a thread of the network proxy ended", {{"thread", what}, {"error", e.what()}});
    }
  }

  // The serving thread

  void serve(const Stop& stop) {
    const StopWatch watch(stop);
    while (!stop.cancelled()) {
      std::vector<pollfd> polled{{watch.fd(), POLLIN, 0}, {wake_.read.get(), POLLIN, 0}, {may_accept() ? listener_.get() : -1, POLLIN, 0}};
      for (const auto& [id, connection] : connections_) {
        polled.push_back(waiting_for(connection.client_fd(), connection.client_events()));
        polled.push_back(waiting_for(connection.server_fd(), connection.server_events()));
      }
      const int ready = ::poll(polled.data(), polled.size(), poll_ms());
      if (ready < 0 && errno != EINTR) throw system_failure("polling", errno);
      if (ready < 0) continue;
      std::size_t at = 3;
      for (auto& [id, connection] : connections_) {
        const short client = polled[at++].revents;
        const short server = polled[at++].revents;
        attend(id, connection, client, server);
      }
      if (polled[1].revents != 0) take_answers();
      std::erase_if(connections_, [](const auto& entry) { return entry.second.phase() == ProxyConnection::Phase::closed; });
      if (polled[2].revents != 0) accept_all();
    }
  }

  /// With nothing to wait for the descriptor is left out: poll() reports a hang-up whether asked or not.
  static pollfd waiting_for(int fd, short events) { return {events == 0 ? -1 : fd, events, 0}; }

  bool may_accept() const { return connections_.size() < options_.limits.max_connections && SteadyClock::now() >= accept_from_; }

  /// Until the nearest deadline of any connection.
  int poll_ms() const {
    auto next = SteadyClock::now() + std::chrono::milliseconds(kLongestPollMs);
    if (accept_from_ > SteadyClock::now()) next = std::min(next, accept_from_);
    for (const auto& [id, connection] : connections_) next = std::min(next, connection.deadline());
    return Stop({}, next).poll_timeout_ms();
  }

  /// Hands in what poll() said, and asks for addresses when the connection has come that far.
  void attend(std::uint64_t id, ProxyConnection& connection, short client, short server) {
    const bool was_resolving = connection.phase() == ProxyConnection::Phase::resolving;
    if (client != 0 || server != 0) connection.on_ready(client, server);
    if (SteadyClock::now() >= connection.deadline()) connection.on_deadline();
    if (was_resolving || connection.phase() != ProxyConnection::Phase::resolving) return;
    auto questions = questions_.lock();
    questions->push_back({id, connection.host()});
    questions.notify_all();
  }

  /// A connection that has ended in the meantime is not found: its answer is void.
  void take_answers() {
    char drop[64];
    while (::read(wake_.read.get(), drop, sizeof drop) > 0) {
    }
    std::vector<Answer> answers;
    answers_.lock()->swap(answers);
    for (const Answer& answer : answers) {
      const auto found = connections_.find(answer.connection);
      if (found != connections_.end()) found->second.on_resolved(answer.addresses);
    }
  }

  void accept_all() {
    while (may_accept()) {
      UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (client) {
        connections_.emplace(++last_id_, ProxyConnection(std::move(client), options_, network_));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        log_.warn("the network proxy cannot accept", {{"error", system_failure("accepting", errno).what()}});
        accept_from_ = SteadyClock::now() + kAcceptPause;
      }
    }
  }

  // The resolving thread

  // One name at a time: only allowed names come here, and answers are kept for a while.
  void resolve_all(const std::stop_token& token) {
    while (true) {
      Question question;
      {
        auto questions = questions_.lock();
        if (!questions.wait(token, [](const auto& waiting) { return !waiting.empty(); })) return;
        question = std::move(questions->front());
        questions->pop_front();
      }
      Answer answer{question.connection, addresses_of(question.host, Stop(token).shorter(kResolveTime))};
      answers_.lock()->push_back(std::move(answer));
      const char byte = 0;
      // A full pipe means that the serving thread has been woken already.
      [[maybe_unused]] const ssize_t written = ::write(wake_.write.get(), &byte, 1);
    }
  }

  /// Failures are not kept: the next connection asks again.
  std::vector<Address> addresses_of(const std::string& host, const Stop& stop) {
    const auto known = cache_.find(host);
    if (known != cache_.end() && known->second.until > SteadyClock::now()) return known->second.addresses;
    try {
      std::vector<Address> addresses = options_.resolve(host, stop);
      if (cache_.size() >= kMostKnown) cache_.clear();
      cache_[host] = {addresses, SteadyClock::now() + kAnswerLife};
      return addresses;
    } catch (const Error& e) {
      if (e.code() == ErrorCode::cancelled) throw;
      log_.info("a name was not resolved", {{"host", host}, {"error", e.what()}});
      return {};
    }
  }

  struct Known {
    std::vector<Address> addresses;
    SteadyClock::time_point until;
  };

  UniqueFd listener_;
  ProxyOptions options_;
  NetworkLog network_;  // serving thread
  Log& log_;
  Pipe wake_;  // an answer is there
  Guarded<std::deque<Question>> questions_;
  Guarded<std::vector<Answer>> answers_;
  std::map<std::uint64_t, ProxyConnection> connections_;  // serving thread
  std::uint64_t last_id_ = 0;                             // serving thread
  SteadyClock::time_point accept_from_{};                 // serving thread
  std::map<std::string, Known> cache_;                    // resolving thread
  std::jthread resolver_;                                 // the threads last: they use all above
  std::jthread server_;
};

Proxy::Proxy(UniqueFd listener, ProxyOptions options, TraceSink* trace, Log& log)
    : server_(std::make_unique<Server>(std::move(listener), std::move(options), trace, log)) {}

Proxy::~Proxy() = default;

}  // namespace forge::egress
