#include "orchestrator/egress/passing.h"

#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/egress/passed_headers.h"
#include "orchestrator/models/anthropic.h"
#include "orchestrator/models/openai.h"

namespace forge::egress {
namespace {

constexpr std::size_t kMostErrorBytes = 256 << 10;  // an error is a few hundred bytes; a proxy's web page may be more
constexpr std::size_t kMostVendorWords = 500;

std::string path_of(DoorPath path) {
  switch (path) {
    case DoorPath::messages: return "/v1/messages";
    case DoorPath::chat_completions: return "/chat/completions";  // the base URL of this format ends in /v1 already
    case DoorPath::responses: return "/responses";
  }
  throw Error(ErrorCode::internal, "a path of the door without a name");
}

/// As it stands in the request, with its question mark.
std::string query_of(const std::string& target) {
  const auto mark = target.find('?');
  return mark == std::string::npos ? "" : target.substr(mark);
}

bool is_good(int status) { return status >= 200 && status < 300; }
bool is_final(int status) { return status == 401 || status == 403; }

net::HttpRequest made_for(DoorPath path, const httpd::Request& request, const models::Upstream& upstream, const AskedModel& asked) {
  net::HttpRequest sent{.method = "POST",
                        .url = models::url_below(upstream.base_url, path_of(path) + query_of(request.target)),
                        .headers = upstream_headers(request, upstream, format_of(path)),
                        .unix_socket = upstream.unix_socket};
  sent.body = asked.name == upstream.model ? request.body : with_model(request.body, asked, upstream.model);
  return sent;
}

}  // namespace

models::WireFormat format_of(DoorPath path) {
  return path == DoorPath::messages ? models::WireFormat::anthropic : models::WireFormat::openai;
}

Passing::Passing(DoorPath path, const httpd::Request& request, DoorModel& model, const AskedModel& asked, const Redactor& redactor,
                 TraceSink& trace)
    : path_(path),
      model_(model),
      redactor_(redactor),
      trace_(trace),
      sent_(made_for(path, request, model.upstream, asked)),
      copy_(path, request.body.size()) {}

void Passing::run(httpd::AnswerWriter& answer, const Stop& stop) {
  auto transport = model_.take();
  try {
    transport->stream(sent_,
                      {.head = [&](const net::HttpHead& head) { take_head(head, answer); },
                       .body = [&](std::string_view piece) { take_body(piece, answer); }},
                      stop);
  } catch (const Error& e) {
    // Not the agent's request is too large, or no HTTP, but the answer. A cassette's own refusals have words for clients.
    const bool of_the_answer =
        e.code() == ErrorCode::limit_exceeded || (e.code() == ErrorCode::invalid_argument && e.client_text().empty());
    if (!of_the_answer) throw;
    throw Error(ErrorCode::unavailable, e.what());
  }
  model_.give_back(std::move(transport));
  if (is_good(status_) || is_final(status_)) return;
  answer.head(status_, std::move(error_headers_));
  const std::string told = redactor_.apply(error_body_);
  if (!told.empty()) answer.write(told);
}

void Passing::take_head(const net::HttpHead& head, httpd::AnswerWriter& answer) {
  if (!is_good(head.status) && head.status < 400)  // a redirect: following it would carry the key to another host
    throw Error(ErrorCode::unavailable, "the provider answered " + std::to_string(head.status) + "; is its base URL right?");
  status_ = head.status;
  copy_.take_head(head);
  trace_.alive();
  auto headers = answer_headers(head, redactor_);
  if (is_good(status_)) return answer.head(status_, std::move(headers));
  error_headers_ = std::move(headers);
}

// The agent first: the copy is read while the bytes are on their way.
void Passing::take_body(std::string_view piece, httpd::AnswerWriter& answer) {
  if (is_good(status_)) {
    answer.write(piece);
  } else if (error_body_.size() < kMostErrorBytes) {
    error_body_ += piece;
  }
  copy_.take_body(piece);
  trace_.alive();
}

std::optional<std::string> Passing::refused() const {
  if (!is_final(status_)) return {};
  const auto wire = format_of(path_) == models::WireFormat::anthropic ? models::make_anthropic_wire("") : models::make_openai_wire("");
  const models::VendorError error = wire->read_error(status_, error_body_);
  std::string text = model_.upstream.provider + " answered " + std::to_string(status_);
  if (!error.type.empty()) text += " (" + error.type + ")";
  if (!error.message.empty()) text += ": " + cut_middle(to_utf8(error.message).text, kMostVendorWords, kMostVendorWords, 100).head;
  return redactor_.apply(text);
}

}  // namespace forge::egress
