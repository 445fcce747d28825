#include "orchestrator/httpd/hub_state.h"

#include <algorithm>

namespace forge::httpd {

bool HubState::append(const HubStreamPtr& stream, const Event& event, std::size_t ring_bytes) {
  // An event larger than the ring goes alone: refusing it for ever would stop the stream there.
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
  // What does not fit is dropped here and read again when the ring has drained: `last_seq` says from where.
  for (const Event& event : batch.events)
    if (!append(stream, event, ring_bytes)) return want_read(stream, ring_bytes);
  if (batch.end) {
    stream->queued += frame(*batch.end);
    stream->phase = HubStream::Phase::ending;
    return mark_dirty(stream);
  }
  // Published while the source was being read: it may have looked just before. Published before, and still not among what is stored:
  // that cannot be waited for, or the source would be asked for ever.
  const bool missed = stream->seen_seq > stream->last_seq && stream->seen_seq > stream->seen_before_read;
  if (batch.more || missed) return want_read(stream, ring_bytes);
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

}  // namespace forge::httpd
