#include "orchestrator/httpd/exchange.h"

#include <Poco/DateTimeFormat.h>
#include <Poco/DateTimeFormatter.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Timestamp.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::httpd {
namespace {

// Of a connection's buffer, between two requests.
constexpr std::size_t kKeptBytes = 64 << 10;

// For the head of a stream and for a written body. A client that does not take so little holds a worker no longer than this.
constexpr auto kHeadPatience = std::chrono::seconds(2);

/// Writes at once what the socket takes, as nearly every answer is, and waits only for the rest.
void send_all(int fd, std::string_view data, const Stop& stop) {
  const ssize_t sent = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) data.remove_prefix(static_cast<std::size_t>(sent));
  if (!data.empty()) write_all(fd, data, stop);
}

/// Chunks for HTTP/1.1, bare bytes until the close for 1.0.
class SocketBody final : public BodyWriter {
 public:
  SocketBody(int fd, int minor_version, Stop stop, std::chrono::milliseconds per_piece)
      : fd_(fd), chunked_(minor_version == 1), stop_(std::move(stop)), per_piece_(per_piece) {}
  void write(std::string_view piece) override {
    if (piece.empty()) return;  // an empty chunk would end the body
    put(chunked_ ? fmt::format("{:x}\r\n{}\r\n", piece.size(), piece) : std::string(piece));
  }
  void finish() {
    if (chunked_) put("0\r\n\r\n");
  }
  /// Bytes outside the framing: a head.
  void put(std::string_view bytes) {
    client_is_gone_ = true;  // unless the next line returns
    send_all(fd_, bytes, stop_.shorter(per_piece_));
    client_is_gone_ = false;
  }
  /// Tells an error of the client's connection from one of whoever writes the body.
  bool client_is_gone() const { return client_is_gone_; }

 private:
  bool client_is_gone_ = false;
  int fd_;
  bool chunked_;
  Stop stop_;
  std::chrono::milliseconds per_piece_;
};

/// The same with a head that comes from outside.
class SocketAnswer final : public AnswerWriter {
 public:
  using SendHead = std::function<void(int status, std::vector<Header> headers)>;
  SocketAnswer(SocketBody& body, SendHead send_head) : body_(body), send_head_(std::move(send_head)) {}
  void head(int status, std::vector<Header> headers) override {
    if (begun_) throw Error(ErrorCode::internal, "an answer with two heads");
    send_head_(status, std::move(headers));  // throws for a head that would break, before a byte of it is sent
    begun_ = true;
  }
  void write(std::string_view piece) override {
    if (!begun_) throw Error(ErrorCode::internal, "an answer without a head");
    body_.write(piece);
  }
  bool begun() const { return begun_; }

 private:
  SocketBody& body_;
  SendHead send_head_;
  bool begun_ = false;
};

void check_query(const Request& request, const Route& route) {
  if (route.any_query) return;
  for (const auto& [key, value] : request.query) {
    if (std::find(route.query.begin(), route.query.end(), key) != route.query.end()) continue;
    const std::string near = nearest(key, route.query);
    throw bad_input(key.substr(0, 80), "is not a parameter of this path", near.empty() ? "" : "did you mean '" + near + "'?");
  }
}

bool has_body(int status) { return status != 204 && status != 304; }

}  // namespace

// "no-store" unless the answer says otherwise: what the API tells belongs to the one who asked. "nosniff": what came out of a sandbox
// is never to be taken for a page.
std::string response_head(const Response& response, std::optional<std::size_t> length, const std::string& framing) {
  const auto status = static_cast<Poco::Net::HTTPResponse::HTTPStatus>(response.status);
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, Poco::Net::HTTPResponse::getReasonForStatus(status),
                                 Poco::DateTimeFormatter::format(Poco::Timestamp(), Poco::DateTimeFormat::HTTP_FORMAT));
  for (const Header& header : response.headers) head += header.name + ": " + header.value + "\r\n";
  if (!response.has("cache-control")) head += "Cache-Control: no-store\r\n";
  head += "X-Content-Type-Options: nosniff\r\n";
  if (length && has_body(response.status)) head += fmt::format("Content-Length: {}\r\n", *length);
  return head + framing + "\r\n";
}

Exchange::Exchange(const ExchangeParts& parts, Connection& connection, Stop stop)
    : options_(parts.options), site_(parts.site), hub_(parts.hub), bodies_(parts.bodies), connection_(connection), stop_(std::move(stop)) {}

Next Exchange::run() {
  const auto started = SteadyClock::now();
  std::optional<Response> response = respond();
  if (!response) return Next::await_body;
  connection_.received.erase(0, connection_.scanner.head_bytes() + request_.body.size());
  // A connection that is kept may stand idle for long: it does not keep the place of its largest body.
  if (connection_.received.capacity() > kKeptBytes) connection_.received.shrink_to_fit();
  connection_.scanner.restart();
  connection_.awaited = 0;
  const Next next = send(std::move(*response));
  connection_.body_room.reset();
  site_.served({request_, route_, status_, std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - started)});
  return next;
}

std::optional<Refusal> Exchange::understand() {
  const std::string text = connection_.received.substr(0, connection_.scanner.head_bytes());
  request_.listener = connection_.listener;
  request_.peer = connection_.peer;
  head_.keep_alive = false;  // until the head is known to be sound
  auto parsed = parse_head(text, options_.head);
  if (auto* refusal = std::get_if<Refusal>(&parsed)) return *refusal;
  RequestHead& head = std::get<RequestHead>(parsed);
  auto target = parse_target(head.target);
  if (auto* refusal = std::get_if<Refusal>(&target)) return *refusal;
  head_ = std::move(head);
  body_read_ = head_.content_length == 0;
  request_.method = head_.method;
  request_.minor_version = head_.minor_version;
  request_.target = head_.target;
  request_.headers = std::move(head_.headers);
  request_.segments = std::move(std::get<Target>(target).segments);
  request_.query = std::move(std::get<Target>(target).query);
  return {};
}

std::optional<Response> Exchange::respond() {
  // The order is the point: nothing is looked up for a foreign Host, no body is awaited from one who may not send it. A request whose body
  // was awaited passes all of it again: the token may have been revoked meanwhile.
  try {
    if (const auto refusal = understand()) return refusal_response(*refusal);
    site_.screen(request_);
    Router::Match match = site_.router().match(request_.method, request_.segments);
    if (match.route == nullptr && site_.router().otherwise()) return site_.router().otherwise()(request_, stop_);
    if (match.route == nullptr && match.allow.empty())
      return refusal_response({404, ErrorCode::not_found, "there is nothing at this path", {}});
    if (match.route == nullptr)
      return refusal_response({405, ErrorCode::unsupported, "this path does not know the method", "it knows " + match.allow})
          .with("Allow", match.allow);
    route_ = match.route;
    request_.params = std::move(match.params);
    site_.admit(request_, *route_);
    check_query(request_, *route_);
    if (const auto refusal = take_body()) return refusal_response(*refusal);
    if (awaits_body_) return {};
    return route_->handler(request_, stop_.shorter(options_.handler_deadline));
  } catch (const std::exception& e) {
    return site_.failure(request_, e);
  }
}

std::optional<Refusal> Exchange::take_body() {
  const std::size_t length = head_.content_length;
  if (length == 0) return {};
  if (length > route_->body_bytes)
    return Refusal{
        413,
        ErrorCode::limit_exceeded,
        route_->body_bytes == 0 ? "this path takes no body" : fmt::format("the body is larger than {} bytes", route_->body_bytes),
        {}};
  if (!connection_.body_room) connection_.body_room = bodies_.enter(length);
  if (!connection_.body_room) return Refusal{503, ErrorCode::busy, "too many large requests at once", "try again in a moment"};
  const std::size_t head_bytes = connection_.scanner.head_bytes();
  if (connection_.received.size() < head_bytes + length) {
    // A client that waits for the 100 has sent nothing yet; one that did not wait needs none.
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    if (head_.expects_continue && connection_.received.size() == head_bytes)
      ::send(connection_.socket.get(), kGoOn.data(), kGoOn.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    connection_.awaited = head_bytes + length;
    connection_.received.reserve(connection_.awaited);
    awaits_body_ = true;
    return {};
  }
  request_.body = connection_.received.substr(head_bytes, length);
  body_read_ = true;
  return {};
}

Next Exchange::send(Response response) {
  if (response.events && hub_ == nullptr) throw Error(ErrorCode::internal, "an event stream from a server without a hub");
  if (response.events && !hub_->has_room()) response = refusal_response({503, ErrorCode::busy, "too many event streams", {}});
  status_ = response.status;
  // A body that was refused unread still stands in the stream, and the next request behind it cannot be found: the connection ends.
  try {
    if (response.relay)
      if (const auto next = write_relayed(response)) return *next;
    const bool bare = request_.method == Method::head || !has_body(response.status);
    if (response.events && !bare) return hand_to_hub(std::move(response));
    if (response.writer && !bare) return write_streamed(response);
    const bool keep = head_.keep_alive && body_read_ && !response.events;
    const std::string framing = keep ? (request_.minor_version == 0 ? "Connection: keep-alive\r\n" : "") : "Connection: close\r\n";
    std::string text = response_head(response, response.body.size(), framing);
    if (!bare) text += response.body;
    return send_text(std::move(text), keep ? Next::keep : Next::linger);
  } catch (const Error& e) {
    // The client left or does not read: nothing to tell it, and nobody else is concerned.
    if (e.code() == ErrorCode::internal) throw;
    return Next::close;
  }
}

Next Exchange::send_text(std::string text, Next then) {
  const ssize_t sent = ::send(connection_.socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return Next::close;
  connection_.sent = static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  if (connection_.sent == text.size()) return then;
  connection_.unsent = std::move(text);
  connection_.then = then;
  return Next::send;
}

Next Exchange::write_streamed(const Response& response) {
  const bool keep = head_.keep_alive && body_read_ && request_.minor_version == 1;
  const std::string framing = request_.minor_version == 1 ? "Transfer-Encoding: chunked\r\n" : "";
  const int fd = connection_.socket.get();
  send_all(fd, response_head(response, {}, framing + (keep ? "" : "Connection: close\r\n")), stop_.shorter(kHeadPatience));
  SocketBody body(fd, request_.minor_version, stop_, options_.write_deadline);
  try {
    response.writer(body, stop_);
    body.finish();
  } catch (const std::exception& e) {
    // The head is sent, so the client can be told only by a body that has no end; the site still hears why.
    if (!body.client_is_gone()) site_.failure(request_, e);
    return Next::close;
  }
  return keep ? Next::keep : Next::linger;
}

std::optional<Next> Exchange::write_relayed(Response& response) {
  const bool keep = head_.keep_alive && body_read_ && request_.minor_version == 1;
  const std::string framing =
      std::string(request_.minor_version == 1 ? "Transfer-Encoding: chunked\r\n" : "") + (keep ? "" : "Connection: close\r\n");
  const int fd = connection_.socket.get();
  SocketBody body(fd, request_.minor_version, stop_, options_.write_deadline);
  SocketAnswer answer(body, [&](int status, std::vector<Header> headers) {
    status_ = status;
    Response told;
    told.status = status;
    for (Header& header : headers) told.add(std::move(header.name), std::move(header.value));
    body.put(response_head(told, {}, framing));
  });
  try {
    response.relay(answer, stop_.shorter(options_.handler_deadline));
    if (!answer.begun()) throw Error(ErrorCode::internal, "an answer without a head");
    body.finish();
  } catch (const std::exception& e) {
    if (body.client_is_gone()) return Next::close;
    Response failed = site_.failure(request_, e);
    if (answer.begun()) return Next::close;
    status_ = failed.status;
    response = std::move(failed);
    return {};
  }
  return keep ? Next::keep : Next::linger;
}

Next Exchange::hand_to_hub(Response response) {
  // 2 s between attempts of a browser; the comment makes proxies pass the head on at once.
  const std::string head = response_head(response, {}, "Connection: close\r\nX-Accel-Buffering: no\r\n") + "retry: 2000\n:\n\n";
  send_all(connection_.socket.get(), head, stop_.shorter(kHeadPatience));
  hub_->adopt(std::move(connection_.socket), std::move(*response.events));
  return Next::taken;
}

}  // namespace forge::httpd
