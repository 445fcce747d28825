#include "orchestrator/models/http_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/base/text.h"

namespace forge::models {
namespace {

constexpr std::size_t kMostErrorBody = 256 << 10;  // an error is a few hundred bytes; a proxy's web page may be more
constexpr std::size_t kMostVendorWords = 500;      // of an error message in ours

std::int64_t ms_since(SteadyClock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start).count();
}

/// Passes deltas on and notes when the first came.
class TimedObserver final : public ModelObserver {
 public:
  explicit TimedObserver(ModelObserver& next) : next_(next) {}
  void text_delta(std::string_view text) override {
    note();
    next_.text_delta(text);
  }
  void thinking_delta(std::string_view text) override {
    note();
    next_.thinking_delta(text);
  }
  void note() {
    if (first_ms_ < 0) first_ms_ = ms_since(start_);
  }
  std::int64_t first_ms() const { return first_ms_; }
  std::int64_t total_ms() const { return ms_since(start_); }

 private:
  ModelObserver& next_;
  SteadyClock::time_point start_ = SteadyClock::now();
  std::int64_t first_ms_ = -1;
};

/// One answer as it comes in: an event stream, or a body that is none (an error, a server that does not stream).
class Answer {
 public:
  explicit Answer(StreamReader& reader) : reader_(reader), parser_([this](const net::SseEvent& event) { take(event); }) {}

  void take_head(const net::HttpHead& head) {
    head_ = head;
    const std::string type = lower_ascii(head.header("content-type").value_or(""));
    streams_ = head.status == 200 && (type.empty() || type.find("event-stream") != std::string::npos);
    content_type_ = type;
  }
  /// The rest of an error's body that is over the cap is read and dropped, which keeps the connection.
  void take_body(std::string_view piece) {
    if (streams_) {
      parser_.feed(piece);
    } else if (body_.size() < kMostErrorBody || head_.status == 200) {
      body_ += piece;
    }
  }
  /// The body has ended: one that is JSON as a whole is a response in one piece.
  void end() {
    const bool plain = !streams_ && head_.status == 200 && content_type_.find("json") != std::string::npos;
    if (plain) take({.name = {}, .data = body_, .id = {}});
  }
  bool satisfied() const { return reader_.complete() || reader_.error(); }

  const net::HttpHead& head() const { return head_; }
  const std::string& body() const { return body_; }
  const std::string& content_type() const { return content_type_; }

 private:
  void take(const net::SseEvent& event) {
    if (!satisfied()) reader_.take(event);
  }
  StreamReader& reader_;
  net::SseParser parser_;
  net::HttpHead head_;
  std::string body_;
  std::string content_type_;
  bool streams_ = false;
};

class HttpModel final : public Model {
 public:
  HttpModel(Endpoint endpoint, std::unique_ptr<Wire> wire, HttpModelOptions options, const Clock& clock)
      : endpoint_(std::move(endpoint)),
        wire_(std::move(wire)),
        options_(std::move(options)),
        clock_(clock),
        name_(endpoint_.provider + "/" + options_.model) {
    redactor_.add(endpoint_.api_key);
    for (const net::HttpHeader& header : endpoint_.headers) redactor_.add(header.value);
  }

  const std::string& name() const override { return name_; }
  std::int64_t context_window() const override { return options_.context_window; }
  ModelResponse complete(const ModelRequest& request, ModelObserver& observer, const Stop& stop) override {
    return with_retries(options_.retries, observer, stop, [&] { return attempt(request, observer, stop); });
  }

 private:
  Attempt attempt(const ModelRequest& request, ModelObserver& observer, const Stop& stop);
  std::optional<Failure> exchange(const ModelRequest& request, Answer& answer, const Stop& stop);
  std::optional<Failure> judge(const StreamReader& reader, const Answer& answer, std::optional<Failure> broken);
  Failure refused(const Answer& answer);
  Failure vendor_failure(const VendorError& error, int status) const;
  Failure incomplete(const Answer& answer) const;
  net::HttpRequest http_request(const ModelRequest& request) const;
  std::string said(std::string_view what, const VendorError& error) const;
  Failure failure(ErrorCode code, bool retryable, std::string_view what) const;

  Endpoint endpoint_;
  std::unique_ptr<Wire> wire_;
  HttpModelOptions options_;
  const Clock& clock_;
  std::string name_;
  Redactor redactor_;
};

/// Headers of the operator win over ours: gateways of companies want an Authorization of their own.
net::HttpRequest HttpModel::http_request(const ModelRequest& request) const {
  net::HttpRequest http{.method = "POST", .unix_socket = endpoint_.unix_socket};
  http.url = url_below(endpoint_.base_url, wire_->path());
  http.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}, {"User-Agent", "forge"}};
  for (net::HttpHeader& header : wire_->headers(endpoint_.api_key)) http.headers.push_back(std::move(header));
  for (const net::HttpHeader& own : endpoint_.headers) {
    std::erase_if(http.headers, [&](const net::HttpHeader& h) { return lower_ascii(h.name) == lower_ascii(own.name); });
    http.headers.push_back(own);
  }
  http.body = wire_->body(request);
  return http;
}

/// "anthropic answered 429 (rate_limit_error): the vendor's words", without secrets and of bounded length.
std::string HttpModel::said(std::string_view what, const VendorError& error) const {
  std::string text = fmt::format("{} {}", endpoint_.provider, what);
  if (!error.type.empty()) text += " (" + error.type + ")";
  if (!error.message.empty()) text += ": " + cut_middle(to_utf8(error.message).text, kMostVendorWords, kMostVendorWords, 100).head;
  return redactor_.apply(text);
}

/// A failure without an answer's status.
Failure HttpModel::failure(ErrorCode code, bool retryable, std::string_view what) const {
  return {.code = code,
          .status = {},
          .retryable = retryable,
          .retry_after = {},
          .message = redactor_.apply(endpoint_.provider + ": " + std::string(what))};
}

/// An error that came inside a stream, under status 200: judged by the status it stands for.
Failure HttpModel::vendor_failure(const VendorError& error, int status) const {
  return {.code = error.context_overflow ? ErrorCode::context_overflow : code_of_status(status),
          .status = status,
          .retryable = is_retryable(status) && !error.final && !error.context_overflow,
          .retry_after = {},
          .message = said("broke off its answer", error)};
}

/// The failure of an answer with another status than 200.
Failure HttpModel::refused(const Answer& answer) {
  const net::HttpHead& head = answer.head();
  const VendorError error = wire_->read_error(head.status, answer.body());
  const bool adapted = wire_->adapt(head.status, error);
  std::string text = said("answered " + std::to_string(head.status), error);
  if (head.status < 400 || (head.status == 404 && error.message.empty()))
    text += "; is the base URL " + net::printable_url(endpoint_.base_url) + " right?";
  if (const auto id = head.header(wire_->request_id_header())) text += " [request " + redactor_.apply(*id) + "]";
  Failure failure = failure_of(head, std::move(text), clock_.now_ms());
  if (error.context_overflow) failure.code = ErrorCode::context_overflow;
  if (error.final || error.context_overflow) failure.retryable = false;
  if (adapted) {
    failure.retryable = true;
    failure.retry_after = std::chrono::milliseconds(0);
  }
  return failure;
}

/// The failure of a status 200 whose body was no whole response.
Failure HttpModel::incomplete(const Answer& answer) const {
  if (answer.head().status == 200 && !answer.content_type().empty() && !answer.body().empty()) {
    return failure(ErrorCode::invalid_argument, false,
                   "answered " + answer.content_type() + " instead of an event stream; is the base URL " +
                       net::printable_url(endpoint_.base_url) + " right?");
  }
  return failure(ErrorCode::unavailable, true, "the stream ended before its last event");
}

/// Makes the request and reads the answer. A failure of the connection is returned; cancelled, timed_out and what the observer throws pass.
std::optional<Failure> HttpModel::exchange(const ModelRequest& request, Answer& answer, const Stop& stop) {
  try {
    options_.transport->stream(http_request(request),
                               {.head = [&](const net::HttpHead& head) { answer.take_head(head); },
                                .body = [&](std::string_view piece) { answer.take_body(piece); },
                                .satisfied = [&] { return answer.satisfied(); }},
                               stop);
    answer.end();
    return {};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unavailable) return failure(ErrorCode::unavailable, true, error.what());
    if (error.code() == ErrorCode::limit_exceeded) return failure(ErrorCode::unavailable, false, error.what());
    throw;
  }
}

/// Tells what a dropped attempt was billed for.
void report_waste(const StreamReader& reader, ModelObserver& observer) {
  if (const Usage usage = reader.usage(); usage.total() > 0) observer.wasted(usage);
}

/// Why the attempt is none, or nothing when the response is whole: then it does not matter how the connection ended.
std::optional<Failure> HttpModel::judge(const StreamReader& reader, const Answer& answer, std::optional<Failure> broken) {
  if (answer.head().status != 0 && answer.head().status != 200) return refused(answer);
  if (reader.error()) return vendor_failure(*reader.error(), reader.error()->status.value_or(500));
  if (reader.whole()) return {};
  return broken ? std::move(broken) : incomplete(answer);
}

/// One request from start to end. Everything it gathers dies with it, so that an attempt cannot leak into the next one.
Attempt HttpModel::attempt(const ModelRequest& request, ModelObserver& observer, const Stop& stop) {
  TimedObserver timed(observer);
  const std::unique_ptr<StreamReader> reader = wire_->reader(request, timed);
  Answer answer(*reader);
  std::optional<Failure> failure;
  try {
    failure = judge(*reader, answer, exchange(request, answer, stop));
  } catch (const Error&) {  // cancelled or timed out in the middle: billed all the same
    report_waste(*reader, observer);
    throw;
  }
  if (failure) {
    report_waste(*reader, observer);
    return std::move(*failure);
  }
  ModelResponse response = reader->response();
  if (auto id = answer.head().header(wire_->request_id_header())) response.request_id = std::move(*id);
  timed.note();  // only calls, no text
  response.time_to_first_token_ms = timed.first_ms();
  response.duration_ms = timed.total_ms();
  return response;
}

}  // namespace

std::unique_ptr<Model> make_http_model(Endpoint endpoint, std::unique_ptr<Wire> wire, HttpModelOptions options, const Clock& clock) {
  return std::make_unique<HttpModel>(std::move(endpoint), std::move(wire), std::move(options), clock);
}

}  // namespace forge::models
