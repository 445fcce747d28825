#pragma once

#include <map>
#include <string>
#include <string_view>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/stop.h"

namespace forge::test {

struct RawResponse {
  int status = 0;                              ///< 0 = the server closed without an answer
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

/// A client that sends exactly the bytes it is told, so that tests can be wrong on purpose. Every wait ends after 8 s as timed_out.
class RawClient {
 public:
  static RawClient tcp(int port);
  static RawClient unix_socket(const std::string& path);
  explicit RawClient(UniqueFd socket) : socket_(std::move(socket)) {}

  void send(std::string_view bytes);
  /// Everything up to and with `mark`; throws unavailable when the server closes first.
  std::string read_to(std::string_view mark);
  std::string read_bytes(std::size_t count);
  /// The rest until the server closes.
  std::string read_to_end();
  /// Head and body, by Content-Length, chunks or close. With `head_only` no body is expected.
  RawResponse read_response(bool head_only = false);
  /// Sends `bytes` and reads the answer.
  RawResponse ask(std::string_view bytes, bool head_only = false);
  /// True when the server closes without sending another byte.
  bool closes();
  int fd() const { return socket_.get(); }
  /// The socket alone, for one who only holds it open.
  UniqueFd take_fd() { return std::move(socket_); }

 private:
  bool fill();
  UniqueFd socket_;
  std::string unread_;
};

/// "GET /path HTTP/1.1" with a Host and `headers` ("Name: value\r\n" lines).
std::string get_request(const std::string& target, const std::string& headers = {});
/// A request with a body and its Content-Length.
std::string body_request(const std::string& method, const std::string& target, const std::string& body, const std::string& headers = {});

}  // namespace forge::test
