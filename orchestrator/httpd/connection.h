#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/httpd/guard.h"
#include "orchestrator/httpd/message.h"

/// Private to httpd: one client, and how it passes between the front thread and the workers. One of them owns it at any time.
namespace forge::httpd {

/// Counts connections, all and by address; a ticket is a counted connection.
class Census {
 public:
  Census(std::size_t most, std::size_t most_per_address) : most_(most), most_per_address_(most_per_address) {}
  using Ticket = std::shared_ptr<void>;
  /// Nothing when a cap is reached. Empty and loopback addresses count only towards the whole: a proxy stands behind them.
  Ticket enter(const std::string& address);
  /// Tickets out at this moment.
  std::size_t size();

 private:
  struct Counts {
    std::size_t all = 0;
    std::map<std::string, std::size_t> by_address;
  };
  std::size_t most_;
  std::size_t most_per_address_;
  // Shared with the tickets: a connection may outlive the census by a moment when the server goes down.
  std::shared_ptr<Guarded<Counts>> counts_ = std::make_shared<Guarded<Counts>>();
};

/// Counts the bytes of the bodies that are awaited or served, over all connections: each has its own cap, and many at once need one, too.
class BodyRoom {
 public:
  explicit BodyRoom(std::size_t most) : most_(most) {}
  using Ticket = std::shared_ptr<void>;
  /// Room for one body until the ticket is gone. Nothing when it is taken; a body that is alone always has room.
  Ticket enter(std::size_t bytes);

 private:
  std::size_t most_;
  std::shared_ptr<Guarded<std::size_t>> held_ = std::make_shared<Guarded<std::size_t>>();  // shared as Census's counts are
};

/// What becomes of a connection after a request.
enum class Next {
  keep,        ///< another request may come
  await_body,  ///< the request is not served yet: it may have a body, which is not all there
  send,        ///< the client has not taken the whole answer; what comes then stands in the connection
  linger,      ///< our last bytes are sent: read and forget what the client still sends, so that it gets them, then close
  close,
  taken,  ///< the event hub has the socket
};

/// One client's socket, with what was read from it and not yet understood.
struct Connection {
  UniqueFd socket;  ///< non-blocking
  std::shared_ptr<const ListenerInfo> listener;
  std::string peer;
  Census::Ticket ticket;
  HeadScanner scanner;
  std::string received;             ///< not yet served: the head being read, a body's begin, pipelined requests
  std::size_t awaited = 0;          ///< bytes of `received` that the request at its begin needs; 0 = its head was not judged yet
  BodyRoom::Ticket body_room = {};  ///< of the request at the begin of `received`, from the sight of its head to the end of its answer
  std::string unsent;               ///< the answer of Next::send
  std::size_t sent = 0;             ///< bytes of it that are out
  Next then = Next::close;          ///< what becomes of the connection when it is out
};

/// Requests whose heads are complete, waiting for a worker. A request goes to the worker that was idle last, and wakes no other one.
class WorkQueue {
 public:
  explicit WorkQueue(std::size_t most) : most_(most) {}
  /// False, and `connection` untouched, when the queue is full.
  bool push(std::unique_ptr<Connection>& connection);
  /// Waits; null when `token` was stopped.
  std::unique_ptr<Connection> pop(const std::stop_token& token);
  /// A worker waits in pop(), or one that was promised will.
  bool has_free_worker();
  /// Promises one more worker.
  void expect_worker();
  /// A worker has given back what it popped, and goes on to pop().
  void rest();
  /// What was popped is served, its answer sent or given up; call it after the connection was given back.
  void done();
  /// Waits until nothing is queued or being served. False when `stop` ended the wait.
  bool wait_idle(const Stop& stop);

 private:
  /// Where one idle worker is handed its next connection. Locked after `state_`, never before it.
  using Slot = Guarded<std::unique_ptr<Connection>>;
  struct State {
    std::vector<Slot*> idle;  ///< of workers in pop(), the last one at the end; empty while anything waits
    std::deque<std::unique_ptr<Connection>> waiting;
    std::size_t serving = 0;
    std::size_t workers = 0;
    std::size_t busy = 0;  ///< workers between pop() and rest(); `serving` also holds answers that the front still sends
  };
  std::size_t most_;
  Guarded<State> state_;
};

}  // namespace forge::httpd
