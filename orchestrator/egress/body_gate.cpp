#include <algorithm>

#include "orchestrator/base/error.h"
#include "orchestrator/egress/proxy_request.h"

namespace forge::egress {
namespace {

constexpr int kMaxSizeDigits = 12;  // of one chunk, in hex: more than any cap on bytes lets pass

Error broken_chunk() { return Error(ErrorCode::invalid_argument, "a chunk of the request body is malformed"); }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool BodyGate::finished() const {
  if (kind_ == Kind::open) return false;
  return kind_ == Kind::counted ? left_ == 0 : part_ == Part::end;
}

std::size_t BodyGate::take(std::string_view data) {
  if (kind_ == Kind::open) return data.size();
  if (kind_ == Kind::counted) {
    const auto taken = static_cast<std::size_t>(std::min<std::int64_t>(left_, static_cast<std::int64_t>(data.size())));
    left_ -= static_cast<std::int64_t>(taken);
    return taken;
  }
  std::size_t at = 0;
  while (at < data.size() && part_ != Part::end) {
    if (part_ == Part::data) {
      const auto taken = static_cast<std::size_t>(std::min<std::int64_t>(left_, static_cast<std::int64_t>(data.size() - at)));
      left_ -= static_cast<std::int64_t>(taken);
      at += taken;
      if (left_ == 0) part_ = Part::data_end;
    } else {
      take_byte(data[at++]);
    }
  }
  return at;
}

void BodyGate::end_of_line() {
  switch (part_) {
    case Part::size:
    case Part::extension:
      if (digits_ == 0) throw broken_chunk();
      part_ = left_ == 0 ? Part::trailer_begin : Part::data;
      digits_ = 0;
      return;
    case Part::data_end: part_ = Part::size; return;
    case Part::trailer_begin: part_ = Part::end; return;
    case Part::trailer: part_ = Part::trailer_begin; return;
    case Part::data:
    case Part::end: return;
  }
}

/// One byte of the framing around the chunks. CRLF and nothing else ends a line: where server and proxy disagree about a line's end, a
/// request could hide.
void BodyGate::take_byte(char c) {
  if (after_cr_ != (c == '\n')) throw broken_chunk();
  after_cr_ = c == '\r';
  if (c == '\n') return end_of_line();
  if (c == '\r') return;
  if (part_ == Part::data_end) throw broken_chunk();
  if (part_ == Part::trailer_begin) part_ = Part::trailer;
  if (part_ != Part::size) return;
  if (c == ';') {
    part_ = Part::extension;
    return;
  }
  const int value = hex_value(c);
  if (value < 0 || ++digits_ > kMaxSizeDigits) throw broken_chunk();
  left_ = left_ * 16 + value;
}

}  // namespace forge::egress
