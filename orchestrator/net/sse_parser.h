#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace forge::net {

/// One server-sent event. `name` is empty when the stream gave none; `id` is the last id seen, also from earlier events.
struct SseEvent {
  std::string name;
  std::string data;  ///< valid UTF-8: bad sequences are replaced by U+FFFD
  std::string id;
};

struct SseLimits {
  std::size_t max_event_bytes = 8 << 20;
  std::size_t max_total_bytes = 256 << 20;  ///< of the whole stream; 0 = endless (event streams of our own server)
};

/// Bytes in, events out. Lines end with LF, CRLF or CR, also split over pieces; an event is complete only at its blank line, so what is
/// left at the end of the stream is no event. A sequence of UTF-8 may be split anywhere.
class SseParser {
 public:
  using Handler = std::function<void(const SseEvent&)>;
  explicit SseParser(Handler handler, SseLimits limits = {});

  /// Calls the handler for each event that `bytes` completes. Throws limit_exceeded, and what the handler throws; the parser is spent then.
  void feed(std::string_view bytes);

 private:
  void end_of_line();
  void take_field(std::string_view line);
  void dispatch();

  Handler handler_;
  SseLimits limits_;
  std::string line_;        // the unfinished line
  SseEvent event_;          // what the lines so far have said
  bool has_data_ = false;   // "data:" alone is an event with empty data; no data line at all is none
  bool first_line_ = true;  // only there a byte order mark is skipped
  bool after_cr_ = false;   // an LF that comes next belongs to that CR
  std::size_t total_bytes_ = 0;
};

}  // namespace forge::net
