#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/stop.h"

namespace forge::net {

struct HttpHeader {
  std::string name;
  std::string value;
};

/// One request. `url` is http or https only. With `unix_socket` the connection goes to that socket and the URL's host is only the Host
/// header.
struct HttpRequest {
  std::string method = "GET";
  std::string url = {};
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  std::string unix_socket = {};
};

/// Status and headers of the answer, before its body.
struct HttpHead {
  int status = 0;
  std::vector<HttpHeader> headers;  ///< in order of arrival, names as they were sent
  /// First header of that name, upper and lower case alike.
  std::optional<std::string> header(std::string_view name) const;
};

struct HttpResponse {
  HttpHead head;
  std::string body;
};

/// unavailable, before a byte of the request left: nothing can have happened, and asking again is safe.
class NotConnected : public Error {
 public:
  explicit NotConnected(std::string message) : Error(ErrorCode::unavailable, std::move(message)) {}
};

/// What one exchange may cost. Zero for `idle` means that silence is not an error (event streams).
struct HttpLimits {
  std::chrono::milliseconds connect{10'000};  ///< name, TCP and TLS together
  std::chrono::milliseconds idle{60'000};     ///< longest time in which no byte moves in either direction
  std::size_t max_head_bytes = 64 << 10;
  std::size_t max_body_bytes = 16 << 20;
};

/// Hears the answer as it arrives. What a callback throws ends the exchange and comes out of the call that made the request.
struct HttpReceiver {
  std::function<void(const HttpHead&)> head = {};   ///< once, never for 1xx
  std::function<void(std::string_view)> body = {};  ///< pieces of any size, after `head`
  /// True = the caller has what it wants (an event stream said its last word). The body then gets a moment to end by itself, which keeps
  /// the connection; after that the connection is dropped and the call returns normally.
  std::function<bool()> satisfied = {};
};

/// An HTTP client that keeps its connections between requests. One exchange at a time per object; different objects from different threads.
/// Follows no redirect, reads no proxy, netrc or cookie from its surroundings, accepts any status as an answer.
/// The process must ignore SIGPIPE: the TLS library writes without MSG_NOSIGNAL.
class HttpClient {
 public:
  explicit HttpClient(HttpLimits limits = {});
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  /// Sends `request` and streams the answer. Returns at the end of the body.
  /// Throws invalid_argument (bad URL, method or header), unavailable (NotConnected, broken off, silent for too long), limit_exceeded
  /// (head or body over its cap), cancelled, timed_out (the deadline of `stop`). Messages name method and URL without credentials and
  /// query.
  HttpHead stream(const HttpRequest& request, const HttpReceiver& receiver, const Stop& stop);
  /// The same with the body collected.
  HttpResponse fetch(const HttpRequest& request, const Stop& stop);

 private:
  struct Handles;
  HttpLimits limits_;
  std::unique_ptr<Handles> handles_;
};

/// Unix time in milliseconds of an HTTP date ("Sun, 06 Nov 1994 08:49:37 GMT" and its older forms); nothing when it is none.
std::optional<std::int64_t> parse_http_date(const std::string& text);

/// `url` for messages: user, password, query and fragment removed; "(bad URL)" when it is none.
std::string printable_url(const std::string& url);

}  // namespace forge::net
