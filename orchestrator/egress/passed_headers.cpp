#include "orchestrator/egress/passed_headers.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "orchestrator/base/text.h"
#include "orchestrator/models/anthropic.h"
#include "orchestrator/models/openai.h"

namespace forge::egress {
namespace {

constexpr std::string_view kBetas = "anthropic-beta";

// They speak of one connection and not of the message (RFC 9110 7.6.1). Lengths are made anew on both sides.
constexpr std::array<std::string_view, 11> kOfTheConnection{
    "connection", "keep-alive",        "proxy-connection", "proxy-authenticate", "te",    "proxy-authorization",
    "trailer",    "transfer-encoding", "upgrade",          "content-length",     "expect"};
// Whatever stands in them was made up inside: the sandbox has no credential of ours, and does not choose whose account pays. The encoding
// is ours to choose, because a copy of the answer is read here.
constexpr std::array<std::string_view, 11> kNotFromInside{"host",
                                                          "authorization",
                                                          "x-api-key",
                                                          "api-key",
                                                          "cookie",
                                                          "x-goog-api-key",
                                                          "accept-encoding",
                                                          "forwarded",
                                                          "openai-organization",
                                                          "openai-project",
                                                          "x-goog-user-project"};
constexpr std::array<std::string_view, 6> kNotToInside{"set-cookie",          "date",          "alt-svc", "anthropic-organization-id",
                                                       "openai-organization", "openai-project"};

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// All values of a header; one that comes in several lines means the same as their list (RFC 9110 5.3).
template <typename Headers>
std::string joined(const Headers& headers, std::string_view lower_name) {
  std::string values;
  for (const auto& header : headers)
    if (lower_ascii(header.name) == lower_name) values += (values.empty() ? "" : ",") + header.value;
  return values;
}

/// Headers that a message's own Connection headers name.
template <typename Headers>
std::vector<std::string> named_by_connection(const Headers& headers) {
  std::vector<std::string> names;
  for (const std::string& name : split(joined(headers, "connection"), ',')) names.push_back(lower_ascii(trim(name)));
  return names;
}

bool breaks_a_head(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// The vendor's headers of authentication and version.
std::vector<net::HttpHeader> vendor_headers(const models::Upstream& upstream, models::WireFormat format) {
  const auto wire =
      format == models::WireFormat::anthropic ? models::make_anthropic_wire(upstream.model) : models::make_openai_wire(upstream.model);
  return wire->headers(upstream.api_key);
}

void replace(std::vector<net::HttpHeader>& headers, const net::HttpHeader& header) {
  std::erase_if(headers, [&](const net::HttpHeader& other) { return lower_ascii(other.name) == lower_ascii(header.name); });
  headers.push_back(header);
}

bool has(const std::vector<net::HttpHeader>& headers, std::string_view lower_name) {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& header) { return lower_ascii(header.name) == lower_name; });
}

}  // namespace

std::vector<net::HttpHeader> upstream_headers(const httpd::Request& request, const models::Upstream& upstream, models::WireFormat format) {
  const auto named = named_by_connection(request.headers);
  std::vector<net::HttpHeader> headers;
  for (const httpd::Header& header : request.headers) {
    if (is_one_of(kOfTheConnection, header.name) || is_one_of(kNotFromInside, header.name) || header.name.starts_with("x-forwarded-"))
      continue;
    if (std::find(named.begin(), named.end(), header.name) == named.end()) headers.push_back({header.name, header.value});
  }
  headers.push_back({"accept-encoding", "identity"});
  for (const net::HttpHeader& header : vendor_headers(upstream, format))
    if (!has(headers, lower_ascii(header.name))) headers.push_back(header);
  for (const net::HttpHeader& own : upstream.headers) {
    const std::string asked = lower_ascii(own.name) == kBetas ? joined(headers, kBetas) : "";
    replace(headers, asked.empty() ? own : net::HttpHeader{own.name, asked + "," + own.value});
  }
  return headers;
}

std::vector<httpd::Header> answer_headers(const net::HttpHead& head, const Redactor& redactor) {
  const auto named = named_by_connection(head.headers);
  std::vector<httpd::Header> headers;
  for (const net::HttpHeader& header : head.headers) {
    const std::string name = lower_ascii(header.name);
    if (is_one_of(kOfTheConnection, name) || is_one_of(kNotToInside, name) || name == "x-content-type-options") continue;
    if (name.empty() || breaks_a_head(name) || breaks_a_head(header.value)) continue;
    if (std::find(named.begin(), named.end(), name) == named.end()) headers.push_back({header.name, redactor.apply(header.value)});
  }
  return headers;
}

}  // namespace forge::egress
