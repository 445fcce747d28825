#include "orchestrator/net/sse_parser.h"

#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::net {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error too_long(std::string_view what, std::size_t limit) {
  return Error(ErrorCode::limit_exceeded, std::string(what) + " is over " + std::to_string(limit) + " bytes");
}

}  // namespace

SseParser::SseParser(Handler handler, SseLimits limits) : handler_(std::move(handler)), limits_(limits) {}

// Lines are gathered as bytes and become text only when their event is complete: a piece may end inside a character.
void SseParser::feed(std::string_view bytes) {
  total_bytes_ += bytes.size();
  if (limits_.max_total_bytes != 0 && total_bytes_ > limits_.max_total_bytes) throw too_long("the event stream", limits_.max_total_bytes);
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const auto end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + event_.data.size() > limits_.max_event_bytes) throw too_long("an event", limits_.max_event_bytes);
    if (end == std::string_view::npos) return;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_of_line();
  }
}

void SseParser::end_of_line() {
  std::string_view line = line_;
  if (std::exchange(first_line_, false) && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    dispatch();
  } else if (line.front() != ':') {  // else a comment
    take_field(line);
  }
  line_.clear();
}

/// `retry` is passed over: who reconnects, and when, is decided elsewhere.
void SseParser::take_field(std::string_view line) {
  const auto colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  } else if (name == "event") {
    event_.name = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    event_.id = value;
  }
}

/// At a blank line: an event when there was data, else nothing. The id stays for the events that follow.
void SseParser::dispatch() {
  if (has_data_) {
    event_.data = to_utf8(event_.data).text;
    handler_(event_);
  }
  event_.name.clear();
  event_.data.clear();
  has_data_ = false;
}

}  // namespace forge::net
