#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/httpd/event_stream.h"

namespace forge::httpd {

/// Stored events of one topic, as the store would hold them: written first, published then.
class Stored {
 public:
  explicit Stored(std::size_t page = 3) : page_(page) {}
  Event add(std::string data, bool last = false) {
    auto events = events_.lock();
    events->push_back({.seq = static_cast<std::int64_t>(events->size()) + 1, .name = {}, .data = std::move(data), .last = last});
    events.notify_all();
    return events->back();
  }
  EventSource::Batch after(std::int64_t seq) {
    auto events = events_.lock();
    EventSource::Batch batch;
    for (const Event& event : *events) {
      if (event.seq <= seq) continue;
      if (batch.events.size() == page_) {
        batch.more = true;
        return batch;
      }
      batch.events.push_back(event);
    }
    if (!events->empty() && events->back().last) batch.end = Event{.seq = 0, .name = "end", .data = "{}"};
    return batch;
  }

 private:
  std::size_t page_;
  Guarded<std::vector<Event>> events_;
};

class StoredSource final : public EventSource {
 public:
  explicit StoredSource(Stored& stored) : stored_(stored) {}
  Batch after(std::int64_t seq) override { return stored_.after(seq); }

 private:
  Stored& stored_;
};

}  // namespace forge::httpd
