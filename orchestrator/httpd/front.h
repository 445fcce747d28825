#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/httpd/bell.h"
#include "orchestrator/httpd/client_watch.h"
#include "orchestrator/httpd/connection.h"
#include "orchestrator/httpd/server.h"

/// Private to httpd.
namespace forge::httpd {

/// The front thread: accepts, reads heads and awaited bodies, sends what slow clients did not take at once, keeps idle connections, ends
/// overdue ones. What is complete goes to the work queue.
/// No client can make it wait: every call on a socket is non-blocking.
class Front {
 public:
  /// `queued` is called on the front thread whenever the queue has got longer.
  Front(const ServerOptions& options, WorkQueue& queue, Census& census, Log& log, std::function<void()> queued);
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  /// The thread's loop, until `token` is stopped and wake() was called.
  void run(const std::stop_token& token);

  // From any thread: noted, and done by the front thread, which alone touches what is parked.
  std::uint64_t add_listener(Listener listener);
  void remove_listener(std::uint64_t id);
  void give_back(std::unique_ptr<Connection> connection, Next next);
  /// Closes listeners and idle connections; refuses requests whose head completes from now on.
  void drain();
  void wake() const { bell_.ring(); }
  /// For workers: tells when the client of a request under way leaves.
  ClientWatch& clients() { return clients_; }
  /// Once run() has returned: closes everything.
  void close_all();

 private:
  /// Why a connection is parked, which says what its deadline means.
  enum class Phase {
    idle,    ///< nothing received of the next request; closed without a word
    head,    ///< a head is on its way; overdue, it is answered with 408
    body,    ///< a body that a worker wants is on its way; the same
    answer,  ///< an answer is going out; the request counts as being served until it is out or given up
    linger,  ///< answered for the last time; what still comes is forgotten
  };
  struct Parked {
    std::unique_ptr<Connection> connection;
    Phase phase = Phase::idle;
    SteadyClock::time_point deadline;
  };
  /// What other threads asked for.
  struct Commands {
    std::vector<std::pair<std::uint64_t, Listener>> added;
    std::vector<std::uint64_t> removed;
    std::vector<std::pair<std::unique_ptr<Connection>, Next>> returned;
    std::uint64_t next_listener = 1;
    bool drain = false;
  };
  using Connections = std::unordered_map<int, Parked>;  ///< by descriptor

  void obey();
  /// A worker is done with a connection that may serve more, or has its last bytes on the way.
  void take_back(std::unique_ptr<Connection> connection, Next next);
  void accept_from(Listener& listener);
  void welcome(UniqueFd socket, const std::string& peer, const Listener& listener);
  /// Puts a connection under watch until bytes or its deadline come.
  void park(std::unique_ptr<Connection> connection, Phase phase);
  /// Takes it out again; dropping the result closes it.
  std::unique_ptr<Connection> unpark(Connections::iterator at);
  void on_ready(int fd);
  /// Sends on, and does what was to be done then when all is out.
  void send_more(Connections::iterator at);
  /// Looks at what was received: hands on a complete head, refuses a bad one, waits otherwise.
  void advance(int fd);
  /// To the workers, or away with 503 when too many wait already.
  void dispatch(Connections::iterator at);
  /// Answers by itself, without a worker, and lets the connection linger.
  void refuse(Connections::iterator at, const Refusal& refusal);
  void discard(Connections::iterator at);
  /// Ends what is overdue.
  void expire();
  std::chrono::milliseconds time_for(Phase phase) const;
  void set_deadline(Parked& parked, std::chrono::milliseconds from_now);
  void close_listener(std::uint64_t id);
  void start_draining();
  /// Stops accepting for a moment, because there is no descriptor left to accept into.
  void pause_listeners();
  void resume_listeners();

  const ServerOptions& options_;
  WorkQueue& queue_;
  Census& census_;
  Log& log_;
  std::function<void()> queued_;
  Bell bell_;
  Guarded<Commands> commands_;
  UniqueFd epoll_;
  ClientWatch clients_;
  std::map<std::uint64_t, Listener> listeners_;
  Connections connections_;
  SteadyClock::time_point next_deadline_ = SteadyClock::time_point::max();  ///< no parked deadline is nearer
  SteadyClock::time_point paused_until_ = SteadyClock::time_point::max();   ///< max = listeners are watched
  bool draining_ = false;
};

}  // namespace forge::httpd
