#pragma once

#include "orchestrator/httpd/connection.h"
#include "orchestrator/httpd/event_hub.h"
#include "orchestrator/httpd/server.h"
#include "orchestrator/httpd/site.h"

/// Private to httpd.
namespace forge::httpd {

/// What all exchanges of a server share. `hub` may be null.
struct ExchangeParts {
  const ServerOptions& options;
  Site& site;
  EventHub* hub;
  BodyRoom& bodies;
};

/// One request and its answer, on a worker thread.
class Exchange {
 public:
  Exchange(const ExchangeParts& parts, Connection& connection, Stop stop);
  /// Serves the request whose head stands at the begin of `connection.received`, and takes it off there; or leaves it there when the rest
  /// of its body must be awaited. Never waits for the client, and never throws for what it did.
  Next run();

 private:
  /// Reads the head and fills `request_`.
  std::optional<Refusal> understand();
  /// The answer, whatever happens: a refusal of the guard, the handler's, or the site's words for an error. Nothing when a body is
  /// awaited.
  std::optional<Response> respond();
  /// The body into `request_`, when the route takes one that long and all of it is there.
  std::optional<Refusal> take_body();
  /// Writes the answer and says what becomes of the connection.
  Next send(Response response);
  /// Sends what the socket takes at once; the front thread sends the rest.
  Next send_text(std::string text, Next then);
  Next write_streamed(const Response& response);
  /// Nothing when the relay failed before its head: then `response` is the site's answer to that.
  std::optional<Next> write_relayed(Response& response);
  Next hand_to_hub(Response response);

  const ServerOptions& options_;
  Site& site_;
  EventHub* hub_;
  BodyRoom& bodies_;
  Connection& connection_;
  Stop stop_;
  RequestHead head_;
  Request request_;
  const Route* route_ = nullptr;
  bool awaits_body_ = false;
  bool body_read_ = false;  ///< only then may the connection be kept: the connection stands at the begin of the next request
  int status_ = 0;
};

/// The head of a response, with its empty line. `length` nothing = chunked or until close, as `framing` says.
std::string response_head(const Response& response, std::optional<std::size_t> length, const std::string& framing);

}  // namespace forge::httpd
