#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/principal.h"
#include "orchestrator/httpd/event_stream.h"

namespace forge::httpd {

enum class Method { get, head, post, put, patch, delete_, options };
/// "GET" and so on.
std::string_view name_of(Method method);
std::optional<Method> parse_method(std::string_view name);
/// GET, HEAD and OPTIONS change nothing.
constexpr bool is_safe(Method method) { return method == Method::get || method == Method::head || method == Method::options; }

struct Header {
  std::string name;   ///< lower case in requests
  std::string value;  ///< the bytes as sent: nothing is decoded
};

/// Where a request came in.
enum class ListenerKind {
  tcp,    ///< anybody who reaches the port
  local,  ///< a unix socket, or a listener that was passed in
};
struct ListenerInfo {
  ListenerKind kind = ListenerKind::tcp;
  std::string name;  ///< address, path, or what its owner calls it
};

/// One request, complete and checked by the guard.
struct Request {
  Method method = Method::get;
  int minor_version = 1;                                   ///< of HTTP/1
  std::string target;                                      ///< path and query as sent
  std::vector<std::string> segments;                       ///< of the path, each decoded after the split
  std::vector<std::pair<std::string, std::string>> query;  ///< decoded, in order
  std::vector<Header> headers;
  std::string body;
  std::string peer;  ///< IP address; empty on a unix socket
  std::shared_ptr<const ListenerInfo> listener;
  std::map<std::string, std::string, std::less<>> params;  ///< of the matched pattern
  std::optional<Principal> principal;                      ///< set when the site admitted the request
  std::vector<std::string> credentials;                    ///< "token:<id>", "session:<id>": what revoking ends

  bool is_local() const { return listener != nullptr && listener->kind == ListenerKind::local; }
  /// First value of the header with this lower-case name.
  std::optional<std::string_view> header(std::string_view name) const;
  /// Value of a query parameter; throws bad_input when it stands there twice.
  std::optional<std::string> query_value(std::string_view key) const;
  /// As an integer from `least` to `most`; throws bad_input.
  std::optional<std::int64_t> query_integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  const std::string& param(std::string_view name) const;
};

/// Takes the pieces of a body that is written while it is made.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  /// Sends one piece. Throws unavailable when the client is gone, timed_out when it does not read.
  virtual void write(std::string_view piece) = 0;
};

/// Takes an answer whose head is known only when the one who makes it has begun: what a proxy passes on.
class AnswerWriter : public BodyWriter {
 public:
  /// Once, before the first write(). Throws as write() does.
  virtual void head(int status, std::vector<Header> headers) = 0;
};

struct Response {
  int status = 200;
  std::vector<Header> headers;
  std::string body;
  /// When set, the body is what this writes (chunked), and `body` is ignored. Runs on the request's thread.
  std::function<void(BodyWriter&, const Stop&)> writer;
  /// When set, status, headers and body are what this tells the writer, piece by piece, and all other members are ignored. Runs on the
  /// request's thread. What it throws before head() is answered like the error of a handler; later it cuts the answer off.
  std::function<void(AnswerWriter&, const Stop&)> relay = {};
  /// When set, the socket leaves its thread for the event hub once the head is sent.
  std::optional<EventStream> events;

  /// Adds a header. Throws internal for a name or value that would break the head.
  void add(std::string name, std::string value);
  /// The same for an answer under way.
  Response&& with(std::string name, std::string value) &&;
  bool has(std::string_view lower_name) const;
};

Response text_response(int status, std::string content_type, std::string body);
/// `json` is JSON text.
Response json_response(int status, std::string json);
Response no_content();
Response redirect(std::string location);
Response event_stream(EventStream stream);

/// The API's error object as JSON text: {"error":{"code","message","field"?,"hint"?}}.
std::string error_json(ErrorCode code, const std::string& message, const std::string& field = {}, const std::string& hint = {});

}  // namespace forge::httpd
