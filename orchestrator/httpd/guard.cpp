#include "orchestrator/httpd/guard.h"

#include <algorithm>
#include <charconv>

#include "orchestrator/base/text.h"

namespace forge::httpd {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kMostLengthDigits = 15;  // 999 TB: beyond any cap, and no overflow

Refusal bad(std::string message) { return {400, ErrorCode::invalid_argument, std::move(message), {}}; }

/// Tab too: inside a value it has no use, and log readers take it for a separator.
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// RFC 9110 token characters.
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || kMarks.find(c) != std::string_view::npos;
  });
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

/// Exactly "METHOD SP target SP version". Only the origin form: an absolute target names a host a second time.
std::optional<Refusal> read_request_line(std::string_view line, RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return bad("the request line is not 'METHOD target HTTP/1.1'");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    if (!version.starts_with("HTTP/")) return bad("the request line is not 'METHOD target HTTP/1.1'");
    return Refusal{505, ErrorCode::unsupported, "only HTTP/1.1 and HTTP/1.0 are spoken here", {}};
  }
  if (!is_token(method)) return bad("the method is malformed");
  const bool visible = std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!target.starts_with('/') || !visible || target.find('#') != std::string_view::npos)
    return bad("the target is not a path of printable ASCII that begins with '/'");
  const auto known = parse_method(method);
  if (!known) return Refusal{501, ErrorCode::unsupported, "the method " + std::string(method.substr(0, 20)) + " is not known here", {}};
  head.method = *known;
  head.minor_version = version.back() - '0';
  head.target = target;
  return {};
}

std::optional<Refusal> read_fields(std::string_view rest, const HeadLimits& limits, RequestHead& head) {
  for (std::string_view line = take_line(rest); !line.empty(); line = take_line(rest)) {
    const std::size_t colon = line.find(':');
    // A space before the colon and a folded line both fail here: their name is no token.
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return bad("a header line is malformed");
    if (head.headers.size() == limits.fields) return Refusal{431, ErrorCode::limit_exceeded, "too many header fields", {}};
    head.headers.push_back({lower_ascii(line.substr(0, colon)), std::string(trim(line.substr(colon + 1)))});
  }
  return {};
}

/// Values of all fields of that name, in order: for those of which there may be one only, the count matters.
std::vector<std::string_view> values_of(const RequestHead& head, std::string_view name) {
  std::vector<std::string_view> values;
  for (const Header& header : head.headers)
    if (header.name == name) values.push_back(header.value);
  return values;
}

/// Fields of one value that a handler reads. Were they given twice, a proxy and a handler could each count another one.
std::optional<Refusal> refuse_second_values(const RequestHead& head) {
  constexpr const char* kSingle[] = {"Authorization", "Origin", "Content-Type", "Idempotency-Key", "Last-Event-ID"};
  for (const char* name : kSingle)
    if (values_of(head, lower_ascii(name)).size() > 1) return bad("more than one " + std::string(name));
  return {};
}

/// One comma-separated member, compared without case.
bool lists(const std::vector<std::string_view>& values, std::string_view member) {
  for (const std::string_view value : values)
    for (const std::string& part : split(value, ','))
      if (lower_ascii(trim(part)) == member) return true;
  return false;
}

bool takes_a_body(Method method) { return method == Method::post || method == Method::put || method == Method::patch; }

/// Where the body ends. There must be one answer, and every program on the way must find the same.
std::optional<Refusal> read_length(RequestHead& head) {
  const auto lengths = values_of(head, "content-length");
  const auto encodings = values_of(head, "transfer-encoding");
  if (!encodings.empty()) {
    if (!lengths.empty()) return bad("Content-Length and Transfer-Encoding in one request");
    if (encodings.size() == 1 && encodings[0] == "chunked" && head.minor_version == 1)
      return Refusal{411, ErrorCode::invalid_argument, "a body needs a Content-Length", "chunked bodies are not taken: send the length"};
    return bad("the Transfer-Encoding is not one that HTTP/1.1 allows here");
  }
  if (lengths.size() > 1) return bad("more than one Content-Length");
  if (lengths.empty()) {
    if (takes_a_body(head.method))
      return Refusal{411, ErrorCode::invalid_argument, "a body needs a Content-Length", "send Content-Length: 0 for none"};
    return {};
  }
  // from_chars takes a minus for signed types and never a plus; anything behind the digits leaves `end` short.
  const std::string_view digits = lengths[0];
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), head.content_length);
  const bool all_digits = !digits.empty() && digits.size() <= kMostLengthDigits && digits[0] != '-' && error == std::errc();
  if (!all_digits || end != digits.data() + digits.size()) return bad("the Content-Length is not a number");
  if (head.content_length != 0 && is_safe(head.method)) return bad("a " + std::string(name_of(head.method)) + " request has no body");
  return {};
}

/// Host, what becomes of the connection, and whether the client waits for a 100.
std::optional<Refusal> read_connection(RequestHead& head) {
  const auto hosts = values_of(head, "host");
  if (hosts.size() != 1 || hosts[0].empty()) return bad(hosts.size() > 1 ? "more than one Host" : "the Host header is missing");
  const auto connection = values_of(head, "connection");
  head.keep_alive = head.minor_version == 1 ? !lists(connection, "close") : lists(connection, "keep-alive");
  const auto expect = values_of(head, "expect");
  if (expect.empty()) return {};
  if (expect.size() != 1 || lower_ascii(expect[0]) != "100-continue")
    return Refusal{417, ErrorCode::unsupported, "the only expectation met here is 100-continue", {}};
  head.expects_continue = head.minor_version == 1;
  return {};
}

}  // namespace

Response refusal_response(const Refusal& refusal) {
  Response response = json_response(refusal.status, error_json(refusal.code, refusal.message, {}, refusal.hint));
  if (refusal.status == 503) return std::move(response).with("Retry-After", "1");
  return response;
}

std::optional<Refusal> HeadScanner::scan(std::string_view received) {
  for (; seen_ < received.size(); ++seen_) {
    if (seen_ == limits_.head_bytes) return Refusal{431, ErrorCode::limit_exceeded, "the header fields are too large", {}};
    const std::size_t line_end = limits_.request_line_bytes + 2;  // the line break is not part of the line
    if (seen_ == line_end && received.substr(0, line_end).find('\n') == std::string_view::npos)
      return Refusal{414, ErrorCode::limit_exceeded, "the request line is too long", {}};
    const char c = received[seen_];
    if (c == '\r') {
      if (seen_ + 1 == received.size()) return {};  // the LF may come with the next bytes
      if (received[seen_ + 1] != '\n') return bad("a line ends in a bare CR");
    } else if (c == '\n') {
      if (seen_ == 0 || received[seen_ - 1] != '\r') return bad("a line ends in a bare LF");
      if (!received.substr(0, seen_ + 1).ends_with(kHeadEnd)) continue;
      head_bytes_ = ++seen_;
      return {};
    } else if (is_control(c)) {
      return bad("the head holds a control character");
    }
  }
  return {};
}

std::variant<RequestHead, Refusal> parse_head(std::string_view head_text, const HeadLimits& limits) {
  RequestHead head;
  std::string_view rest = head_text;
  if (auto refusal = read_request_line(take_line(rest), head)) return *refusal;
  if (auto refusal = read_fields(rest, limits, head)) return *refusal;
  if (auto refusal = refuse_second_values(head)) return *refusal;
  if (auto refusal = read_connection(head)) return *refusal;
  if (auto refusal = read_length(head)) return *refusal;
  return head;
}

}  // namespace forge::httpd
