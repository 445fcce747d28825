#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/stop.h"

namespace forge::test {

/// One HTTP request as it came in.
struct SeenRequest {
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;
  /// Value of the first header of that (lower-case) name; "" when there is none.
  std::string header(std::string_view name) const;
};

/// One accepted connection. Belongs to the server's thread for it.
class Connection {
 public:
  Connection(UniqueFd fd, Stop stop) : fd_(std::move(fd)), stop_(std::move(stop)) {}
  /// The next request with its body (Content-Length only); nothing when the client has closed.
  std::optional<SeenRequest> read_request();
  /// Exactly these bytes. Throws unavailable when the client is gone, cancelled when the server is stopping.
  void send(std::string_view bytes);
  /// Waits until the client closes or the server stops.
  void wait_gone();
  /// Closes with a reset instead of an orderly end.
  void reset();
  const Stop& stop() const { return stop_; }

 private:
  std::optional<std::string> read_to(std::string_view mark);
  UniqueFd fd_;
  Stop stop_;
  std::string unread_;
};

/// A server on 127.0.0.1 or on a unix socket that runs `handler` for each connection, each on a thread of its own. Writes exact bytes: it
/// knows no HTTP beyond read_request(). Destroying it ends every connection and joins every thread.
class LoopbackServer {
 public:
  using Handler = std::function<void(Connection&)>;
  /// On a free port of 127.0.0.1, or on `port`.
  explicit LoopbackServer(Handler handler, int port = 0);
  LoopbackServer(Handler handler, const std::string& socket_path);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  int port() const;
  /// "http://127.0.0.1:PORT"; "http://localhost" for a unix socket.
  std::string url() const;
  /// How many connections were accepted so far.
  int connections() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An answer with Content-Length, ready for Connection::send. `headers` are whole lines, each ended by CRLF.
std::string http_answer(int status, std::string_view body, std::string_view headers = {});

}  // namespace forge::test
