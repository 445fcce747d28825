#include "orchestrator/net/exchange.h"

#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "orchestrator/base/error.h"

namespace forge::net {
namespace {

using std::chrono::milliseconds;

// How often a silent transfer is looked at when nothing else wakes the loop; bounds the error of the idle limit.
constexpr int kLookMs = 1000;
// What a body may still take to end after its last event: the closing chunk travels with it or right behind it.
constexpr milliseconds kLastMoment(100);

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// A line break in a header would start another header.
void check_header(const HttpHeader& header) {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  const bool named = !header.name.empty() && header.name.find_first_of(" :\t\r\n") == std::string::npos;
  if (!named || header.name.find('\0') != std::string::npos || header.value.find_first_of(kBreaks) != std::string::npos) {
    throw Error(ErrorCode::invalid_argument, "the header '" + header.name + "' cannot be sent");
  }
}

void check_method(const std::string& method) {
  const bool letters = std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (method.empty() || !letters) throw Error(ErrorCode::invalid_argument, "'" + method + "' is not a method");
}

}  // namespace

Exchange::Exchange(CURL* easy, CURLM* multi, const HttpLimits& limits, const HttpReceiver& receiver)
    : easy_(easy), multi_(multi), limits_(limits), receiver_(receiver), last_byte_(SteadyClock::now()) {}

// An unfinished transfer's connection is closed by this; a finished one's stays in the cache.
Exchange::~Exchange() {
  curl_multi_remove_handle(multi_, easy_);
  curl_easy_reset(easy_);  // it holds pointers into this object
}

template <typename Option>
void Exchange::set(CURLoption option, Option value) {
  const CURLcode result = curl_easy_setopt(easy_, option, value);
  if (result != CURLE_OK) throw Error(ErrorCode::invalid_argument, std::string("setting up a request: ") + curl_easy_strerror(result));
}

void Exchange::prepare(const HttpRequest& request) {
  check_method(request.method);
  set(CURLOPT_ERRORBUFFER, error_text_);
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");  // curl also speaks file, ftp, smb ...
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_FOLLOWLOCATION, 0L);  // a redirect could lead a credential to another host
  set(CURLOPT_PROXY, "");           // and none from http_proxy or ALL_PROXY
  set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_NOSIGNAL, 1L);    // no SIGALRM, no changes of handlers: we are one thread of many
  set(CURLOPT_QUICK_EXIT, 1L);  // else cancelling would wait for a name server that does not answer
  set(CURLOPT_PATH_AS_IS, 1L);  // what was asked for is what is sent, dots and all
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  if (request.unix_socket.size() >= sizeof(sockaddr_un::sun_path))
    throw Error(ErrorCode::invalid_argument, "the socket's path is too long");
  if (!request.unix_socket.empty()) set(CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (!request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.c_str());  // not copied: `request` outlives the exchange
  }
  if (request.method != "HEAD") set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  set_headers(request);
  set_limits();
}

void Exchange::set_headers(const HttpRequest& request) {
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(header_list_.get(), line.c_str());
    if (longer == nullptr) throw Error(ErrorCode::internal, "out of memory");
    static_cast<void>(header_list_.release());
    header_list_.reset(longer);
  };
  add("Expect:");  // no 100-continue round trip for large bodies
  for (const HttpHeader& header : request.headers) {
    check_header(header);
    // curl drops "Name:" and sends "Name;" as a header without a value.
    add(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  const bool typed = std::any_of(request.headers.begin(), request.headers.end(),
                                 [](const HttpHeader& h) { return h.name.size() == 12 && curl_strequal(h.name.c_str(), "content-type"); });
  if (!typed) add("Content-Type:");  // curl would call any body a form
  set(CURLOPT_HTTPHEADER, header_list_.get());
}

void Exchange::set_limits() {
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits_.connect.count()));
  set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &Exchange::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_XFERINFOFUNCTION, &Exchange::on_progress);
  set(CURLOPT_XFERINFODATA, this);
  set(CURLOPT_NOPROGRESS, 0L);
}

// curl's own easy interface would block until the transfer moves; the multi interface lets the cancel descriptor wake us at once.
CURLcode Exchange::run(const Stop& stop) {
  const StopWatch watch(stop);
  const CURLMcode added = curl_multi_add_handle(multi_, easy_);
  if (added != CURLM_OK) throw Error(ErrorCode::internal, curl_multi_strerror(added));
  while (true) {
    int running = 0;
    const CURLMcode performed = curl_multi_perform(multi_, &running);
    if (performed != CURLM_OK) throw Error(ErrorCode::internal, curl_multi_strerror(performed));
    if (thrown_) std::rethrow_exception(thrown_);
    CURLcode result = CURLE_OK;
    if (finished(result)) return satisfied_at_ ? CURLE_OK : result;
    if (satisfied_at_ && SteadyClock::now() - *satisfied_at_ >= kLastMoment) return CURLE_OK;
    stop.check();
    check_silence();
    curl_waitfd cancel{watch.fd(), CURL_WAIT_POLLIN, 0};
    curl_multi_poll(multi_, &cancel, watch.fd() < 0 ? 0 : 1, wait_ms(stop), nullptr);
  }
}

/// There is one transfer on this multi handle, so the first message is its end.
bool Exchange::finished(CURLcode& result) {
  int left = 0;
  const CURLMsg* message = curl_multi_info_read(multi_, &left);
  if (message == nullptr || message->msg != CURLMSG_DONE) return false;
  result = message->data.result;
  return true;
}

int Exchange::wait_ms(const Stop& stop) const {
  if (satisfied_at_) return static_cast<int>(kLastMoment.count());
  const int until_stop = stop.poll_timeout_ms();
  const int look = limits_.idle.count() > 0 ? static_cast<int>(std::min<std::int64_t>(limits_.idle.count(), kLookMs)) : kLookMs;
  return until_stop < 0 ? look : std::min(look, until_stop);
}

void Exchange::check_silence() {
  curl_off_t connected_us = 0;
  curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
  if (connected_us == 0) last_byte_ = SteadyClock::now();  // the connect limit rules until then
  if (limits_.idle.count() == 0 || SteadyClock::now() - last_byte_ < limits_.idle) return;
  throw Error(ErrorCode::unavailable, "nothing was received for " + std::to_string(limits_.idle.count()) + " ms");
}

std::string Exchange::failure_text(CURLcode result) const {
  return error_text_[0] != '\0' ? std::string(error_text_) : std::string(curl_easy_strerror(result));
}

/// One line as curl hands it over: a status line, a header, or the blank line that ends the head.
void Exchange::take_header_line(std::string_view line) {
  if (head_done_) return;  // trailers
  if ((head_bytes_ += line.size()) > limits_.max_head_bytes) {
    throw Error(ErrorCode::limit_exceeded, "the answer's head is over " + std::to_string(limits_.max_head_bytes) + " bytes");
  }
  if (line.starts_with("HTTP/")) {
    head_ = {};
    const auto space = line.find(' ');
    if (space != std::string_view::npos) std::from_chars(line.data() + space + 1, line.data() + line.size(), head_.status);
    return;
  }
  if (without_blanks(line).empty()) {
    if (head_.status < 200) return;  // 100-continue, 103: the real head is still to come
    head_done_ = true;
    if (receiver_.head) receiver_.head(head_);
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  head_.headers.push_back({std::string(line.substr(0, colon)), std::string(without_blanks(line.substr(colon + 1)))});
}

void Exchange::take_body(std::string_view piece) {
  if ((body_bytes_ += piece.size()) > limits_.max_body_bytes) {
    throw Error(ErrorCode::limit_exceeded, "the answer's body is over " + std::to_string(limits_.max_body_bytes) + " bytes");
  }
  if (receiver_.body) receiver_.body(piece);
  if (!satisfied_at_ && receiver_.satisfied && receiver_.satisfied()) satisfied_at_ = SteadyClock::now();
}

template <typename Body>
std::size_t Exchange::guarded(std::size_t size, Body&& body) {
  last_byte_ = SteadyClock::now();
  try {
    body();
    return size;
  } catch (...) {  // rethrown by run(), on our side of curl's frames
    thrown_ = std::current_exception();
    return size == 0 ? 1 : 0;  // any other number than `size` aborts the transfer
  }
}

std::size_t Exchange::on_header(char* data, std::size_t, std::size_t size, void* self) {
  auto* exchange = static_cast<Exchange*>(self);
  return exchange->guarded(size, [&] { exchange->take_header_line({data, size}); });
}

std::size_t Exchange::on_body(char* data, std::size_t, std::size_t size, void* self) {
  auto* exchange = static_cast<Exchange*>(self);
  return exchange->guarded(size, [&] { exchange->take_body({data, size}); });
}

/// An upload moves without a callback of its own; this one notices it for the idle limit.
int Exchange::on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent) {
  auto* exchange = static_cast<Exchange*>(self);
  if (sent != exchange->sent_bytes_) exchange->last_byte_ = SteadyClock::now();
  exchange->sent_bytes_ = sent;
  return 0;
}

}  // namespace forge::net
