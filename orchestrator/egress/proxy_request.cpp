#include "orchestrator/egress/proxy_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/egress/host_rules.h"

namespace forge::egress {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr int kHttpPort = 80;
// Of one connection, or replaced by us. What "Connection" names beside them goes, too.
constexpr std::array<std::string_view, 8> kDropped{"connection", "keep-alive", "proxy-connection",  "proxy-authorization", "te",
                                                   "upgrade",    "host",       "proxy-authenticate"};

Error refuse(const std::string& why) { return bad_input("", why); }

/// A name of RFC 9110: no blank before the colon, nothing that another parser could read differently.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

/// "example.com:443", "[::1]:443"; `default_port` 0 = the port is needed.
void parse_authority(std::string_view authority, int default_port, ProxyRequest& request) {
  const std::size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string_view::npos && !authority.ends_with(']');
  request.host = canonical_host(has_port ? authority.substr(0, colon) : authority);
  request.port = has_port ? parse_port(authority.substr(colon + 1)) : default_port;
  if (request.host.empty() || request.port == 0) throw refuse("the request names no valid host and port");
}

struct Header {
  std::string_view name;
  std::string_view value;
};

/// A line that begins with a blank would continue the one before for some servers: it has no name and is refused.
Header parse_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || has_control(line)) throw refuse("a header is malformed");
  return {line.substr(0, colon), trim(line.substr(colon + 1))};
}

/// Without the empty line at the end. A bare LF ends no line here, so that it hides none.
std::vector<std::string_view> lines_of(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    if (end == std::string_view::npos) throw refuse("the request does not end its lines with CRLF");
    lines.push_back(head.substr(0, end));
    head.remove_prefix(end + 2);
  }
  if (lines.size() < 2 || !lines.back().empty()) throw refuse("the request has no end");
  lines.pop_back();
  return lines;
}

std::int64_t parse_length(std::string_view text) {
  std::int64_t length = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || error != std::errc() || end != text.data() + text.size()) throw refuse("Content-Length is not a number");
  return length;
}

/// How long the body is. Two answers to that question are the classic way to smuggle a second request.
BodyGate framing(const std::vector<Header>& headers) {
  std::optional<std::string_view> length;
  std::optional<std::string_view> encoding;
  for (const Header& header : headers) {
    const std::string name = lower_ascii(header.name);
    std::optional<std::string_view>* seen = name == "content-length" ? &length : name == "transfer-encoding" ? &encoding : nullptr;
    if (seen == nullptr) continue;
    if (*seen) throw refuse(fmt::format("{} stands twice", name));
    *seen = header.value;
  }
  if (length && encoding) throw refuse("Content-Length and Transfer-Encoding together");
  if (encoding && lower_ascii(*encoding) != "chunked") throw refuse("a Transfer-Encoding other than chunked");
  if (encoding) return BodyGate::chunked();
  return length ? BodyGate::counted(parse_length(*length)) : BodyGate::none();
}

/// Lower-case names of headers that end at this proxy.
std::vector<std::string> dropped_names(const std::vector<Header>& headers) {
  std::vector<std::string> dropped(kDropped.begin(), kDropped.end());
  for (const Header& header : headers) {
    if (lower_ascii(header.name) != "connection") continue;
    for (const std::string& name : split(header.value, ',')) dropped.push_back(lower_ascii(trim(name)));
  }
  // These decide where the body ends: naming them in Connection must not take them away.
  std::erase_if(dropped, [](const std::string& name) { return name == "content-length" || name == "transfer-encoding"; });
  return dropped;
}

/// Host is the URL's: the one that the client sent beside it could name another site on the same server.
std::string server_head(std::string_view method, std::string_view path, std::string_view version, std::string_view authority,
                        const std::vector<Header>& headers) {
  const std::vector<std::string> dropped = dropped_names(headers);
  std::string head = fmt::format("{} {} {}\r\nHost: {}\r\n", method, path.empty() ? "/" : path, version, authority);
  for (const Header& header : headers) {
    if (std::find(dropped.begin(), dropped.end(), lower_ascii(header.name)) != dropped.end()) continue;
    head += fmt::format("{}: {}\r\n", header.name, header.value);
  }
  return head + "Connection: close\r\n\r\n";
}

}  // namespace

ProxyRequest parse_proxy_request(std::string_view head) {
  const std::vector<std::string_view> lines = lines_of(head);
  const std::string_view line = lines.front();
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || has_control(line)) throw refuse("the request line is malformed");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (!is_token(method) || (version != "HTTP/1.1" && version != "HTTP/1.0")) throw refuse("the request line is malformed");
  std::vector<Header> headers;
  for (std::size_t i = 1; i < lines.size(); ++i) headers.push_back(parse_header(lines[i]));

  ProxyRequest request;
  if (method == "CONNECT") {
    request.tunnel = true;
    request.body = BodyGate::open();
    parse_authority(target, 0, request);
    return request;
  }
  if (lower_ascii(target.substr(0, kScheme.size())) != kScheme)
    throw refuse("this is a proxy: it takes CONNECT and http:// URLs, not '" + std::string(target.substr(0, 40)) + "'");
  const std::string_view rest = target.substr(kScheme.size());
  const std::size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, path);
  // Shown in logs otherwise, and read in two ways by two parsers.
  if (authority.find('@') != std::string_view::npos) throw refuse("a user name in the URL");
  parse_authority(authority, kHttpPort, request);
  request.body = framing(headers);
  const std::string origin_form =
      rest.substr(path).starts_with('/') ? std::string(rest.substr(path)) : "/" + std::string(rest.substr(path));
  request.head = server_head(method, origin_form, version, authority, headers);
  return request;
}

}  // namespace forge::egress
