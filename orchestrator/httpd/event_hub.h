#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/httpd/event_stream.h"

namespace forge::httpd {

struct HubOptions {
  std::size_t max_streams = 20'000;
  std::size_t ring_bytes = 256 << 10;           ///< unsent bytes of one stream
  std::chrono::milliseconds heartbeat{15'000};  ///< a comment line on a stream that was quiet for this long
  std::chrono::milliseconds stall{30'000};      ///< a client that takes no byte for this long is dropped; it resumes by Last-Event-ID
};

/// All server-sent event streams of a server: one thread writes to them, one reads stored events for those that are behind. A stream
/// starts in the stored events after its position, goes over to published ones without gap or duplicate, and falls back to the stored
/// ones when its ring is full, so that a slow reader costs at most the ring. Safe to call from any thread.
class EventHub {
 public:
  EventHub(const HubOptions& options, Log& log);
  /// Ends all streams at once.
  ~EventHub();
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  /// Takes a connected socket whose response head is sent. False when the hub is full or stopping, or a tag of the stream was ended; the
  /// socket is then closed, by a stopping hub with the farewell that all get.
  bool adopt(UniqueFd socket, EventStream stream);
  /// Room for one more, so that 503 can still be answered.
  bool has_room() const;
  /// Hands an event to the streams of `topic`. Never blocks on a client.
  void publish(const std::string& topic, const Event& event);
  /// Ends the streams that carry `tag`, at once and without a final event, also one that is being opened now: a tag that was ended names
  /// nothing any more. Returns how many were open.
  std::size_t end_tagged(const std::string& tag);

  std::size_t size() const;
  /// Streams dropped because their client did not read.
  std::size_t dropped() const;
  /// Sends `event: shutdown` to every stream, then closes it; until `stop` ends.
  void stop(const Stop& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// An event as it goes over the wire: "id: 7\nevent: end\ndata: {...}\n\n".
std::string frame(const Event& event);

}  // namespace forge::httpd
