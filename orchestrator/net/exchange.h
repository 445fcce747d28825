#pragma once

#include <curl/curl.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "orchestrator/net/http_client.h"

namespace forge::net {

// Owners of curl's handles. Private to this room, as curl.h is.
struct FreeEasy {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
};
struct FreeMulti {
  void operator()(CURLM* handle) const noexcept { curl_multi_cleanup(handle); }
};
struct FreeUrl {
  void operator()(CURLU* handle) const noexcept { curl_url_cleanup(handle); }
};
struct FreeText {
  void operator()(char* text) const noexcept { curl_free(text); }
};
struct FreeList {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

/// One request on its way: the options, the callbacks' state, the poll loop. Lives as long as the transfer is attached to `multi`.
class Exchange {
 public:
  Exchange(CURL* easy, CURLM* multi, const HttpLimits& limits, const HttpReceiver& receiver);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Throws invalid_argument for a header or a socket path that cannot be sent.
  void prepare(const HttpRequest& request);
  /// Runs to the end, or throws what a callback threw, what `stop` says, or unavailable after silence.
  CURLcode run(const Stop& stop);
  std::string failure_text(CURLcode result) const;
  HttpHead take_head() { return std::move(head_); }

 private:
  template <typename Option>
  void set(CURLoption option, Option value);
  void set_headers(const HttpRequest& request);
  void set_limits();
  bool finished(CURLcode& result);
  /// How long the loop may sleep: until the deadline, or until silence must be looked at.
  int wait_ms(const Stop& stop) const;
  /// Throws unavailable when no byte has moved for too long.
  void check_silence();
  void take_header_line(std::string_view line);
  void take_body(std::string_view piece);
  /// Runs a callback's work for curl; an exception is kept and the transfer aborted.
  template <typename Body>
  std::size_t guarded(std::size_t size, Body&& body);

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self);
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self);
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent);

  CURL* easy_;
  CURLM* multi_;
  const HttpLimits& limits_;
  const HttpReceiver& receiver_;
  std::unique_ptr<curl_slist, FreeList> header_list_;
  HttpHead head_;
  bool head_done_ = false;
  std::size_t head_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  curl_off_t sent_bytes_ = 0;
  SteadyClock::time_point last_byte_;  // in either direction
  std::optional<SteadyClock::time_point> satisfied_at_;
  std::exception_ptr thrown_;  // by a callback: an exception must not cross curl's C frames
  char error_text_[CURL_ERROR_SIZE] = {};
};

}  // namespace forge::net
