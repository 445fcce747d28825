#include "orchestrator/httpd/event_hub.h"

#include <sys/socket.h>

#include <algorithm>
#include <thread>

#include "orchestrator/base/error.h"
#include "orchestrator/httpd/hub_state.h"

namespace forge::httpd {
namespace {

// Far more than are ended while one request is on its way from the door to the hub.
constexpr std::size_t kEndedTagsKept = 1024;

bool any_ended(const HubState& state, const std::vector<std::string>& tags) {
  return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::find(state.ended_tags.begin(), state.ended_tags.end(), tag) != state.ended_tags.end();
  });
}

Event farewell() { return {.seq = 0, .name = "shutdown", .data = "{}", .last = true}; }

/// For a stream that arrives while the others end: nothing was sent on it but its head, so that there is room for one small event.
void bid_farewell(int socket) {
  const std::string text = frame(farewell());
  ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// The reader thread's loop: asks sources for stored events, without the lock.
void read_for_streams(const std::stop_token& token, const HubOptions& options, Guarded<HubState>& state, const Bell& bell, Log& log) {
  while (true) {
    HubStreamPtr stream;
    std::int64_t after = 0;
    {
      auto locked = state.lock();
      if (!locked.wait(token, [](const HubState& s) { return !s.to_read.empty(); })) return;
      stream = std::move(locked->to_read.front());
      locked->to_read.pop_front();
      after = stream->last_seq;
      stream->seen_before_read = stream->seen_seq;
    }
    // Outside the lock: the store may take its time, and publishers must not wait for it.
    EventSource::Batch batch;
    bool failed = false;
    try {
      batch = stream->spec.source->after(after);
    } catch (const std::exception& e) {
      log.warn("reading events for a stream failed; the client may resume", {{"topic", stream->spec.topic}, {"error", e.what()}});
      failed = true;
    }
    auto locked = state.lock();
    if (failed) {
      locked->to_close.push_back(stream);
    } else {
      locked->deliver(stream, batch, options.ring_bytes);
    }
    bell.ring();
  }
}

}  // namespace

// In the order of their lives: the threads use all that stands above them.
struct EventHub::Parts {
  Parts(const HubOptions& given, Log& log_)
      : options(given),
        log(log_),
        writer(options, state, bell, log),
        writing([this](const std::stop_token& token) { writer.run(token); }),
        reading([this](const std::stop_token& token) { read_for_streams(token, options, state, bell, log); }) {}

  HubOptions options;
  Log& log;
  Guarded<HubState> state;
  Bell bell;
  HubWriter writer;
  std::jthread writing;
  std::jthread reading;
};

EventHub::EventHub(const HubOptions& options, Log& log) : parts_(std::make_unique<Parts>(options, log)) {}

EventHub::~EventHub() { stop(Stop::after(SteadyClock::duration::zero())); }

bool EventHub::adopt(UniqueFd socket, EventStream stream) {
  set_nonblocking(socket.get(), true);
  auto state = parts_->state.lock();
  if (state->stopping) bid_farewell(socket.get());
  if (state->stopping || state->streams.size() >= parts_->options.max_streams || any_ended(*state, stream.tags)) return false;
  auto added = std::make_shared<HubStream>();
  added->id = state->next_id++;
  added->socket = std::move(socket);
  added->spec = std::move(stream);
  added->last_seq = added->spec.after;
  // A new stream is `behind`: even with nothing stored, one look at the source is what makes going live free of gaps.
  state->streams.emplace(added->id, added);
  state->topics[added->spec.topic].insert(added);
  state->arrived.push_back(added);
  state->want_read(added, parts_->options.ring_bytes);
  state.notify_all();
  parts_->bell.ring();
  return true;
}

bool EventHub::has_room() const {
  auto state = parts_->state.lock();
  return !state->stopping && state->streams.size() < parts_->options.max_streams;
}

void EventHub::publish(const std::string& topic, const Event& event) {
  auto state = parts_->state.lock();
  const auto found = state->topics.find(topic);
  if (found == state->topics.end()) return;
  for (const HubStreamPtr& stream : found->second) state->publish(stream, event, parts_->options.ring_bytes);
  state.notify_all();
  parts_->bell.ring();
}

std::size_t EventHub::end_tagged(const std::string& tag) {
  auto state = parts_->state.lock();
  state->ended_tags.push_back(tag);
  if (state->ended_tags.size() > kEndedTagsKept) state->ended_tags.pop_front();
  std::size_t ended = 0;
  for (const auto& [id, stream] : state->streams) {
    const auto& tags = stream->spec.tags;
    if (std::find(tags.begin(), tags.end(), tag) == tags.end()) continue;
    state->to_close.push_back(stream);
    ++ended;
  }
  parts_->bell.ring();
  return ended;
}

std::size_t EventHub::size() const { return parts_->state.lock()->streams.size(); }
std::size_t EventHub::dropped() const { return parts_->state.lock()->dropped; }

void EventHub::stop(const Stop& stop) {
  {
    auto state = parts_->state.lock();
    // The cap on the ring does not hold for the farewell, which is small and the last thing.
    state->stopping = true;
    for (const auto& [id, stream] : state->streams) {
      if (stream->phase == HubStream::Phase::ending) continue;
      stream->queued += frame(farewell());
      stream->phase = HubStream::Phase::ending;
      state->mark_dirty(stream);
    }
    parts_->bell.ring();
    state.wait_until(stop.token(), stop.deadline(), [](const HubState& s) { return s.streams.empty(); });
  }
  parts_->writing.request_stop();
  parts_->reading.request_stop();
  parts_->bell.ring();
  if (parts_->writing.joinable()) parts_->writing.join();
  if (parts_->reading.joinable()) parts_->reading.join();
}

}  // namespace forge::httpd
