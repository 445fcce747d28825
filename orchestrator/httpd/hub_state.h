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
#include "orchestrator/httpd/event_hub.h"

/// Private to the event hub: what its two threads and its callers share.
namespace forge::httpd {

struct HubStream {
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
  std::int64_t last_seq = 0;  ///< of the last event queued
  std::int64_t seen_seq = 0;  ///< highest published
  std::string queued;         ///< frames that the writer thread has not taken
  std::size_t in_flight = 0;  ///< bytes that it has taken and not sent to the end
  bool reading = false;       ///< stands in to_read, or the reader thread works on it
  bool dirty = false;         ///< stands in to_send

  // The writer thread's own.
  std::string sending;
  std::size_t sent = 0;
  std::chrono::steady_clock::time_point progress;  ///< last byte taken by the client, or begin of the wait for it

  std::size_t buffered() const { return queued.size() + in_flight; }
};

// Shared: a stream may be removed by the writer thread while the reader thread still reads for it.
using HubStreamPtr = std::shared_ptr<HubStream>;

struct HubState {
  std::map<std::uint64_t, HubStreamPtr> streams;
  std::map<std::string, std::set<HubStreamPtr>, std::less<>> topics;
  std::deque<HubStreamPtr> to_read;
  std::vector<HubStreamPtr> to_send;
  std::vector<HubStreamPtr> to_close;
  std::vector<HubStreamPtr> arrived;
  std::uint64_t next_id = 1;
  std::size_t dropped = 0;
  bool stopping = false;

  /// False when the ring is full. One event always fits an empty ring.
  bool append(const HubStreamPtr& stream, const Event& event, std::size_t ring_bytes);
  /// Has the reader thread fetch more, unless it is at it or the ring is more than half full (then the writer asks again).
  void want_read(const HubStreamPtr& stream, std::size_t ring_bytes);
  void mark_dirty(const HubStreamPtr& stream);
  void remove(const HubStreamPtr& stream);
  /// What became of a batch that was read for `stream`.
  void deliver(const HubStreamPtr& stream, const EventSource::Batch& batch, std::size_t ring_bytes);
  void publish(const HubStreamPtr& stream, const Event& event, std::size_t ring_bytes);
};

/// Wakes the writer thread out of epoll_wait.
class HubBell {
 public:
  HubBell();
  int fd() const { return pipe_.read.get(); }
  void ring() const;
  void quiet() const;

 private:
  Pipe pipe_;
};

/// The writer thread's loop: sends what is queued, notices clients that left or do not read, keeps quiet streams alive.
class HubWriter {
 public:
  HubWriter(const HubOptions& options, Guarded<HubState>& state, const HubBell& bell, Log& log);
  void run(const std::stop_token& token);

 private:
  void add_arrived(const HubStreamPtr& stream);
  void take_lists();
  void flush(const HubStreamPtr& stream);
  enum class Taken { something, nothing, end };
  Taken take(const HubStreamPtr& stream);
  void on_event(std::uint64_t id, std::uint32_t events);
  void tick();
  void watch(const HubStream& stream, bool writable, int operation);
  void remove(const HubStreamPtr& stream);

  const HubOptions& options_;
  Guarded<HubState>& state_;
  const HubBell& bell_;
  Log& log_;
  UniqueFd epoll_;
  std::map<std::uint64_t, HubStreamPtr> mine_;
  std::chrono::steady_clock::time_point next_tick_{};
};

}  // namespace forge::httpd
