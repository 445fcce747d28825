#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/httpd/bell.h"
#include "orchestrator/httpd/event_hub.h"

/// Private to the event hub: what its two threads and its callers share.
namespace forge::httpd {

/// One open stream. Which thread may touch which field stands above each group.
struct HubStream {
  /// behind > live when the stored events are all sent; back to behind when the ring is full or an event is missing; ending is final.
  enum class Phase {
    behind,  ///< the reader thread fetches stored events; published ones are only noted
    live,    ///< published events are appended
    ending,  ///< nothing is added any more; closed when all is sent
  };

  std::uint64_t id = 0;
  UniqueFd socket;
  EventStream spec;  ///< `source` is used by the reader thread alone

  // Guarded by HubState's lock.
  Phase phase = Phase::behind;
  std::int64_t last_seq = 0;          ///< of the last event queued
  std::int64_t seen_seq = 0;          ///< highest published
  std::int64_t seen_before_read = 0;  ///< `seen_seq` when the reader thread began its present read
  std::string queued;                 ///< frames that the writer thread has not taken
  std::size_t in_flight = 0;          ///< bytes that it has taken and not sent to the end
  bool reading = false;               ///< stands in to_read, or the reader thread works on it
  bool dirty = false;                 ///< stands in to_send

  // The writer thread's own.
  std::string sending;
  std::size_t sent = 0;
  std::chrono::steady_clock::time_point progress;  ///< last byte taken by the client, or begin of the wait for it

  /// What the ring holds: with the lock.
  std::size_t buffered() const { return queued.size() + in_flight; }
};

// Shared: a stream may be removed by the writer thread while the reader thread still reads for it.
using HubStreamPtr = std::shared_ptr<HubStream>;

/// What the hub knows, behind one lock; its functions are called with the lock held. None of them touches a socket or a source: the
/// threads do that without the lock, on what these lists hand them.
struct HubState {
  std::map<std::uint64_t, HubStreamPtr> streams;
  /// The same streams by topic, so that publishing costs what the topic has and not what the hub has.
  std::map<std::string, std::set<HubStreamPtr>, std::less<>> topics;
  /// For the reader thread.
  std::deque<HubStreamPtr> to_read;
  /// For the writer thread, which takes all three at once.
  std::vector<HubStreamPtr> to_send;
  std::vector<HubStreamPtr> to_close;
  std::vector<HubStreamPtr> arrived;
  /// The latest tags whose streams were ended, the oldest first: a request that was let in just before must not open one after it.
  std::deque<std::string> ended_tags;
  /// Ids and not descriptors name streams: a descriptor is used again as soon as it is closed.
  std::uint64_t next_id = 1;
  std::size_t dropped = 0;
  bool stopping = false;

  /// False when the ring is full. One event always fits an empty ring.
  bool append(const HubStreamPtr& stream, const Event& event, std::size_t ring_bytes);
  /// Has the reader thread fetch more, unless it is at it or the ring is more than half full (then the writer asks again).
  void want_read(const HubStreamPtr& stream, std::size_t ring_bytes);
  /// Tells the writer thread that there is something to send, once until it looks.
  void mark_dirty(const HubStreamPtr& stream);
  /// Forgets the stream; its socket is the writer thread's to close.
  void remove(const HubStreamPtr& stream);
  /// What became of a batch that was read for `stream`.
  void deliver(const HubStreamPtr& stream, const EventSource::Batch& batch, std::size_t ring_bytes);
  /// One published event for one stream: appended when the stream is live and this is its next one, else left to the stored events.
  void publish(const HubStreamPtr& stream, const Event& event, std::size_t ring_bytes);
};

/// The writer thread's loop: sends what is queued, notices clients that left or do not read, keeps quiet streams alive.
class HubWriter {
 public:
  HubWriter(const HubOptions& options, Guarded<HubState>& state, const Bell& bell, Log& log);
  void run(const std::stop_token& token);

 private:
  /// Takes over what the other threads asked for since the last time, and does it.
  void take_lists();
  void add_arrived(const HubStreamPtr& stream);
  /// Sends until nothing is left or the socket takes no more; then epoll says when to go on.
  void flush(const HubStreamPtr& stream);
  enum class Taken { something, nothing, end };
  /// Moves what is queued to `sending`. `end`: there was nothing, and nothing will come.
  Taken take(const HubStreamPtr& stream);
  void on_event(std::uint64_t id, std::uint32_t events);
  /// Heartbeats for quiet streams, the end for stalled ones.
  void tick();
  void watch(const HubStream& stream, bool writable, int operation);
  /// Closes the socket and forgets the stream; harmless when that was done already.
  void remove(const HubStreamPtr& stream);

  const HubOptions& options_;
  Guarded<HubState>& state_;
  const Bell& bell_;
  Log& log_;
  UniqueFd epoll_;
  std::map<std::uint64_t, HubStreamPtr> mine_;  ///< those whose sockets stand in epoll_
  std::chrono::steady_clock::time_point next_tick_{};
};

}  // namespace forge::httpd
