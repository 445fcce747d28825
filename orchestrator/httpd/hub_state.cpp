#include "orchestrator/httpd/hub_state.h"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace forge::httpd {

bool HubState::append(const HubStreamPtr& stream, const Event& event, std::size_t ring_bytes) {
  const std::string text = frame(event);
  if (stream->buffered() != 0 && stream->buffered() + text.size() > ring_bytes) return false;
  stream->queued += text;
  if (event.seq > 0) stream->last_seq = event.seq;
  mark_dirty(stream);
  return true;
}

void HubState::want_read(const HubStreamPtr& stream, std::size_t ring_bytes) {
  if (stream->phase != HubStream::Phase::behind || stream->reading || stream->buffered() > ring_bytes / 2) return;
  stream->reading = true;
  to_read.push_back(stream);
}

void HubState::mark_dirty(const HubStreamPtr& stream) {
  if (std::exchange(stream->dirty, true)) return;
  to_send.push_back(stream);
}

void HubState::remove(const HubStreamPtr& stream) {
  stream->phase = HubStream::Phase::ending;
  streams.erase(stream->id);
  const auto topic = topics.find(stream->spec.topic);
  if (topic == topics.end()) return;
  topic->second.erase(stream);
  if (topic->second.empty()) topics.erase(topic);
}

void HubState::deliver(const HubStreamPtr& stream, const EventSource::Batch& batch, std::size_t ring_bytes) {
  stream->reading = false;
  if (stream->phase != HubStream::Phase::behind) return;
  for (const Event& event : batch.events)
    if (!append(stream, event, ring_bytes)) return want_read(stream, ring_bytes);
  if (batch.end) {
    stream->queued += frame(*batch.end);
    stream->phase = HubStream::Phase::ending;
    return mark_dirty(stream);
  }
  const bool published_meanwhile = stream->seen_seq > stream->last_seq;
  if (batch.more || (published_meanwhile && !batch.events.empty())) return want_read(stream, ring_bytes);
  // Published and not stored cannot be waited for: the source would be asked for ever.
  stream->last_seq = std::max(stream->last_seq, stream->seen_seq);
  stream->phase = HubStream::Phase::live;
}

void HubState::publish(const HubStreamPtr& stream, const Event& event, std::size_t ring_bytes) {
  stream->seen_seq = std::max(stream->seen_seq, event.seq);
  if (stream->phase != HubStream::Phase::live || event.seq <= stream->last_seq) return;
  const bool next = event.seq == stream->last_seq + 1;
  if (next && append(stream, event, ring_bytes) && !event.last) return;
  stream->phase = HubStream::Phase::behind;  // a gap, a full ring, or the end, which the source tells
  want_read(stream, ring_bytes);
}

HubBell::HubBell() : pipe_(make_pipe()) {
  set_nonblocking(pipe_.read.get(), true);
  set_nonblocking(pipe_.write.get(), true);
}

void HubBell::ring() const {
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = ::write(pipe_.write.get(), &byte, 1);  // full = rung already
}

void HubBell::quiet() const {
  std::array<char, 256> bytes{};
  while (::read(pipe_.read.get(), bytes.data(), bytes.size()) > 0) continue;
}

}  // namespace forge::httpd
