#pragma once

#include "orchestrator/httpd/connection.h"
#include "orchestrator/httpd/event_hub.h"
#include "orchestrator/httpd/server.h"
#include "orchestrator/httpd/site.h"

/// Private to httpd.
namespace forge::httpd {

/// One request and its answer, on a worker thread.
class Exchange {
 public:
  Exchange(const ServerOptions& options, Site& site, EventHub& hub, Connection& connection, Stop stop);
  /// Serves the request whose head stands at the begin of `connection.received`, and takes it off there. Never throws for what a client
  /// did.
  Next run();

 private:
  /// Takes the head off the connection and fills `request_`.
  std::optional<Refusal> understand();
  /// The answer, whatever happens: a refusal of the guard, the handler's, or the site's words for an error.
  Response respond();
  /// The whole body into `request_`, when the route takes one that long.
  std::optional<Refusal> read_body();
  /// Writes the answer and says what becomes of the connection.
  Next send(Response response);
  Next write_streamed(const Response& response);
  Next hand_to_hub(Response response);

  const ServerOptions& options_;
  Site& site_;
  EventHub& hub_;
  Connection& connection_;
  Stop stop_;
  RequestHead head_;
  Request request_;
  const Route* route_ = nullptr;
  bool body_read_ = false;  ///< only then may the connection be kept: the connection stands at the begin of the next request
  int status_ = 0;
};

/// The head of a response, with its empty line. `length` nothing = chunked or until close, as `framing` says.
std::string response_head(const Response& response, std::optional<std::size_t> length, const std::string& framing);

}  // namespace forge::httpd
