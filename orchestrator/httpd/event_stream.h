#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forge::httpd {

/// One server-sent event.
struct Event {
  std::int64_t seq = 0;  ///< the SSE id; counts up by one within its topic. 0 sends no id.
  std::string name;      ///< empty = "message"
  std::string data;
  bool last = false;  ///< nothing follows in this topic: the source is asked for the end
};

/// Where the events of a topic can be read again. Called from the hub's reader thread; may block on the store.
class EventSource {
 public:
  virtual ~EventSource() = default;
  struct Batch {
    std::vector<Event> events;  ///< seq > `after`, in order
    bool more = false;          ///< there are stored events after these: ask again
    std::optional<Event> end;   ///< the stream ends with this, after `events`
  };
  virtual Batch after(std::int64_t seq) = 0;
};

/// What a handler answers to turn its request into a stream.
struct EventStream {
  std::string topic;
  std::int64_t after = 0;  ///< first event sent is the one after this
  std::unique_ptr<EventSource> source;
  std::vector<std::string> tags;  ///< EventHub::end_tagged ends the stream by any of them
};

}  // namespace forge::httpd
