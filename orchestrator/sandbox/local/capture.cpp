#include "orchestrator/sandbox/local/capture.h"

#include <algorithm>

namespace forge::sandbox::local {

void Capture::add(std::string_view piece) {
  bytes_ += piece.size();
  const std::size_t to_head = std::min(piece.size(), head_room_ - head_.size());
  head_.append(piece.substr(0, to_head));
  piece.remove_prefix(to_head);
  if (piece.size() > tail_room_) piece.remove_prefix(piece.size() - tail_room_);
  tail_.append(piece);
  if (tail_.size() > 2 * tail_room_) tail_.erase(0, tail_.size() - tail_room_);
}

Captured Capture::take() && {
  if (tail_.size() > tail_room_) tail_.erase(0, tail_.size() - tail_room_);
  Captured captured;
  captured.bytes = static_cast<std::int64_t>(bytes_);
  captured.cut_bytes = static_cast<std::int64_t>(bytes_ - head_.size() - tail_.size());
  captured.head = std::move(head_);
  captured.tail = std::move(tail_);
  if (captured.cut_bytes == 0) captured.head += std::exchange(captured.tail, {});
  return captured;
}

}  // namespace forge::sandbox::local
