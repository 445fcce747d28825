#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "orchestrator/base/fd.h"

namespace forge::test {

/// A listening TCP socket on 127.0.0.1 and a port of the system's choice.
struct Listener {
  UniqueFd fd;
  int port = 0;
};
Listener listen_on_loopback();
/// A connected, blocking socket to 127.0.0.1:`port`.
UniqueFd connect_to_loopback(int port);

/// Serves connections one after the other on a thread until it dies. A handler that throws ends its connection only.
class TcpServer {
 public:
  using Handler = std::function<void(int connection, const Stop& stop)>;
  explicit TcpServer(Handler handler);
  int port() const { return port_; }

 private:
  UniqueFd listener_;
  int port_ = 0;
  std::jthread thread_;  // last: it uses the listener
};

/// Reads from `fd` until `text` holds `end` or the stream ends.
std::string read_until(int fd, std::string_view end, const Stop& stop);

}  // namespace forge::test
