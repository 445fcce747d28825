#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "orchestrator/sandbox/driver.h"

namespace forge::sandbox::local {

/// Keeps the first fifth and the last four fifths of a stream within `max_bytes`, whatever its length.
class Capture {
 public:
  explicit Capture(std::size_t max_bytes) : head_room_(max_bytes / 5), tail_room_(max_bytes - max_bytes / 5) {}

  void add(std::string_view piece);
  bool cut() const { return bytes_ > head_room_ + tail_room_; }
  Captured take() &&;

 private:
  std::size_t head_room_;
  std::size_t tail_room_;
  std::size_t bytes_ = 0;
  std::string head_;
  std::string tail_;  // up to twice its room, so that it is trimmed rarely
};

}  // namespace forge::sandbox::local
