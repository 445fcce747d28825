#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/httpd/message.h"

/// The guard stands before everything: a request whose head could be read in two ways is answered with an error and the connection
/// is closed, so that no proxy in front and no handler behind ever disagrees with us about where a request ends.
namespace forge::httpd {

struct HeadLimits {
  std::size_t request_line_bytes = 8 << 10;
  std::size_t head_bytes = 32 << 10;
  std::size_t fields = 100;
};

/// Why the protocol alone refuses a request. These statuses belong to HTTP; errors of handlers are mapped by the site.
struct Refusal {
  int status = 400;
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
  std::string hint;
};
Response refusal_response(const Refusal& refusal);

/// Looks for the end of a head while its bytes arrive.
class HeadScanner {
 public:
  explicit HeadScanner(const HeadLimits& limits) : limits_(limits) {}
  /// `received` is all bytes so far; those seen before are not looked at again. Refuses a bare CR or LF and control characters at
  /// once, and a line or head that grows past its limit.
  std::optional<Refusal> scan(std::string_view received);
  /// Length of the head with its empty line; 0 while incomplete.
  std::size_t head_bytes() const { return head_bytes_; }
  void restart() { seen_ = head_bytes_ = 0; }

 private:
  HeadLimits limits_;
  std::size_t seen_ = 0;
  std::size_t head_bytes_ = 0;
};

struct RequestHead {
  Method method = Method::get;
  int minor_version = 1;
  std::string target;
  std::vector<Header> headers;
  std::size_t content_length = 0;
  bool keep_alive = true;
  bool expects_continue = false;
};

/// Parses a head that HeadScanner found complete.
std::variant<RequestHead, Refusal> parse_head(std::string_view head, const HeadLimits& limits);

struct Target {
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> query;
};
/// Splits path and query, then decodes each part, so that an encoded slash stays inside its segment. Refuses bad escapes, control
/// characters and text that is not UTF-8.
std::variant<Target, Refusal> parse_target(std::string_view target);

}  // namespace forge::httpd
