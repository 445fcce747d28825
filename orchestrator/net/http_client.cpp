#include "orchestrator/net/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/net/exchange.h"

namespace forge::net {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The kind of failure; the text stays curl's. Everything that the network or the peer can do is unavailable; only what no peer could have
/// repaired is told apart.
ErrorCode code_of(CURLcode result) {
  switch (result) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_FUNCTION_ARGUMENT: return ErrorCode::invalid_argument;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT: return ErrorCode::internal;
    default: return ErrorCode::unavailable;
  }
}

}  // namespace

std::optional<std::string> HttpHead::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const HttpHeader& h) { return same_name(h.name, name); });
  if (found == headers.end()) return {};
  return found->value;
}

std::optional<std::int64_t> parse_http_date(const std::string& text) {
  const time_t seconds = curl_getdate(text.c_str(), nullptr);
  if (seconds < 0) return {};
  return std::int64_t{seconds} * 1000;
}

std::string printable_url(const std::string& url) {
  const std::unique_ptr<CURLU, FreeUrl> parts(curl_url());
  if (!parts || curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) return "(bad URL)";
  for (const CURLUPart secret : {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT}) {
    curl_url_set(parts.get(), secret, nullptr, 0);
  }
  char* text = nullptr;
  if (curl_url_get(parts.get(), CURLUPART_URL, &text, 0) != CURLUE_OK) return "(bad URL)";
  const std::unique_ptr<char, FreeText> owned(text);
  return text;
}

/// The multi handle owns the connection cache; the easy handle is reset between requests, which keeps those connections.
struct HttpClient::Handles {
  std::unique_ptr<CURL, FreeEasy> easy;
  std::unique_ptr<CURLM, FreeMulti> multi;  // destroyed first: it still knows the connections of `easy`
};

HttpClient::HttpClient(HttpLimits limits) : limits_(limits), handles_(std::make_unique<Handles>()) {
  handles_->easy.reset(curl_easy_init());  // the first one initialises the library, under its own lock
  handles_->multi.reset(curl_multi_init());
  if (!handles_->easy || !handles_->multi) throw Error(ErrorCode::internal, "making an HTTP client: out of memory");
}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

HttpHead HttpClient::stream(const HttpRequest& request, const HttpReceiver& receiver, const Stop& stop) {
  return doing(request.method + " " + printable_url(request.url), [&] {
    stop.check();
    curl_easy_reset(handles_->easy.get());
    Exchange exchange(handles_->easy.get(), handles_->multi.get(), limits_, receiver);
    exchange.prepare(request);
    const CURLcode result = exchange.run(stop);
    if (result == CURLE_COULDNT_CONNECT) throw NotConnected(exchange.failure_text(result));
    if (result != CURLE_OK) throw Error(code_of(result), exchange.failure_text(result));
    return exchange.take_head();
  });
}

HttpResponse HttpClient::fetch(const HttpRequest& request, const Stop& stop) {
  HttpResponse response;
  response.head = stream(request, {.body = [&](std::string_view piece) { response.body += piece; }}, stop);
  return response;
}

}  // namespace forge::net
