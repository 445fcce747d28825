#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "orchestrator/base/error.h"
#include "orchestrator/httpd/hub_state.h"

namespace forge::httpd {
namespace {

using std::chrono::milliseconds;

constexpr int kStreamsAtOnce = 256;
constexpr std::string_view kHeartbeat = ":\n\n";

}  // namespace

HubWriter::HubWriter(const HubOptions& options, Guarded<HubState>& state, const Bell& bell, Log& log)
    : options_(options), state_(state), bell_(bell), log_(log), epoll_(checked_fd(::epoll_create1(EPOLL_CLOEXEC), "making an epoll")) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = 0}};  // stream ids begin at 1
  checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, bell_.fd(), &event), "watching the bell");
}

void HubWriter::run(const std::stop_token& token) {
  // A quarter of the shorter interval: late by that much at most.
  const auto beat = std::max(milliseconds(1), std::min(options_.heartbeat, options_.stall) / 4);
  next_tick_ = SteadyClock::now() + beat;
  std::array<epoll_event, kStreamsAtOnce> events{};
  while (!token.stop_requested()) {
    const auto left = std::chrono::ceil<milliseconds>(next_tick_ - SteadyClock::now());
    const int timeout = mine_.empty() ? -1 : static_cast<int>(std::max(milliseconds(0), left).count());
    const int ready = ::epoll_wait(epoll_.get(), events.data(), kStreamsAtOnce, timeout);
    if (ready < 0 && errno != EINTR) throw system_failure("waiting for event streams", errno);
    for (int i = 0; i < ready; ++i) on_event(events[static_cast<std::size_t>(i)].data.u64, events[static_cast<std::size_t>(i)].events);
    take_lists();
    if (SteadyClock::now() < next_tick_) continue;
    next_tick_ = SteadyClock::now() + beat;
    tick();
  }
}

void HubWriter::take_lists() {
  std::vector<HubStreamPtr> arrived;
  std::vector<HubStreamPtr> to_send;
  std::vector<HubStreamPtr> to_close;
  {
    auto state = state_.lock();
    arrived.swap(state->arrived);
    to_send.swap(state->to_send);
    to_close.swap(state->to_close);
    for (const HubStreamPtr& stream : to_send) stream->dirty = false;
  }
  for (const HubStreamPtr& stream : arrived) add_arrived(stream);
  for (const HubStreamPtr& stream : to_close) remove(stream);
  for (const HubStreamPtr& stream : to_send)
    if (mine_.contains(stream->id)) flush(stream);
}

// The first bytes of a stream are sent by the worker that opened it; from here on this thread alone writes to the socket.
void HubWriter::add_arrived(const HubStreamPtr& stream) {
  stream->progress = SteadyClock::now();
  mine_.emplace(stream->id, stream);
  watch(*stream, false, EPOLL_CTL_ADD);
}

void HubWriter::watch(const HubStream& stream, bool writable, int operation) {
  epoll_event event{.events = EPOLLIN | (writable ? static_cast<std::uint32_t>(EPOLLOUT) : 0U), .data = {.u64 = stream.id}};
  checked(::epoll_ctl(epoll_.get(), operation, stream.socket.get(), &event), "watching an event stream");
}

HubWriter::Taken HubWriter::take(const HubStreamPtr& stream) {
  auto state = state_.lock();
  stream->sending = std::exchange(stream->queued, {});  // moved, not copied: an idle stream keeps no buffer
  stream->sent = 0;
  stream->in_flight = stream->sending.size();
  state->want_read(stream, options_.ring_bytes);
  if (!state->to_read.empty()) state.notify_all();
  if (stream->in_flight != 0) return Taken::something;
  return stream->phase == HubStream::Phase::ending ? Taken::end : Taken::nothing;
}

void HubWriter::flush(const HubStreamPtr& stream) {
  while (true) {
    if (stream->sent == stream->sending.size()) {
      const bool was_idle = stream->sending.empty();
      const Taken taken = take(stream);
      if (taken == Taken::end) return remove(stream);
      if (taken == Taken::nothing) return watch(*stream, false, EPOLL_CTL_MOD);
      if (was_idle) stream->progress = SteadyClock::now();
    }
    const std::string_view rest = std::string_view(stream->sending).substr(stream->sent);
    const ssize_t sent = ::send(stream->socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      stream->sent += static_cast<std::size_t>(sent);
      stream->progress = SteadyClock::now();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return watch(*stream, true, EPOLL_CTL_MOD);
    } else if (errno != EINTR) {
      return remove(stream);
    }
  }
}

void HubWriter::on_event(std::uint64_t id, std::uint32_t events) {
  if (id == 0) return bell_.quiet();
  const auto found = mine_.find(id);
  if (found == mine_.end()) return;
  const HubStreamPtr stream = found->second;  // held: both calls below may remove it
  if ((events & EPOLLOUT) != 0) flush(stream);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0 || !mine_.contains(id)) return;
  // Nothing is expected from the client but its end; what it sends is forgotten.
  std::array<char, 4096> scratch{};
  const ssize_t got = ::recv(stream->socket.get(), scratch.data(), scratch.size(), MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) remove(stream);
}

void HubWriter::tick() {
  const auto now = SteadyClock::now();
  // A stream with bytes in its ring needs no heartbeat: either they flow, or it is stalled and a heartbeat would not get through.
  std::vector<HubStreamPtr> stalled;
  {
    auto state = state_.lock();
    for (const auto& [id, stream] : mine_) {
      if (stream->buffered() != 0 && now - stream->progress >= options_.stall) stalled.push_back(stream);
      if (stream->buffered() != 0 || stream->phase == HubStream::Phase::ending || now - stream->progress < options_.heartbeat) continue;
      stream->queued += kHeartbeat;
      state->mark_dirty(stream);
    }
    state->dropped += stalled.size();
  }
  for (const HubStreamPtr& stream : stalled) {
    log_.info("an event stream was dropped: its client does not read", {{"topic", stream->spec.topic}});
    remove(stream);
  }
  take_lists();
}

void HubWriter::remove(const HubStreamPtr& stream) {
  if (mine_.erase(stream->id) == 0) return;
  {
    auto state = state_.lock();
    state->remove(stream);
    state.notify_all();  // stop() waits for the last one
  }
  stream->socket.reset();
}

}  // namespace forge::httpd
