#include "orchestrator/base/ids.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"

namespace forge {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kLength = 26;

/// The clock part of the last id and the 12-bit counter within it (RFC 9562, method 1).
struct LastId {
  std::int64_t ms = 0;
  std::uint32_t counter = 0;
};

LastId next_id(std::int64_t now_ms) {
  static Guarded<LastId> last;  // process-wide on purpose: ids must grow across all callers
  auto state = last.lock();
  if (now_ms > state->ms) {
    *state = {now_ms, 0};
  } else if (++state->counter > 0xfff) {
    *state = {state->ms + 1, 0};  // 4,096 ids in one millisecond: borrow the next one
  }
  return *state;
}

void fill_random(std::span<unsigned char> bytes) {
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) throw system_failure("reading random bytes", errno);
}

}  // namespace

std::string new_id_text(std::int64_t now_ms) {
  const LastId id = next_id(now_ms);
  std::array<unsigned char, 16> bytes{};
  fill_random(std::span(bytes).subspan(8));
  for (int i = 0; i < 6; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<unsigned char>(id.ms >> (8 * (5 - i)));
  bytes[6] = static_cast<unsigned char>(0x70 | (id.counter >> 8));
  bytes[7] = static_cast<unsigned char>(id.counter);
  bytes[8] = static_cast<unsigned char>(0x80 | (bytes[8] & 0x3f));
  std::string text(kLength, '0');
  // 128 bits are 25 groups of 5 and one of 3: two zero bits stand in front.
  for (std::size_t i = 0; i < kLength; ++i) {
    unsigned value = 0;
    for (std::size_t bit = i * 5; bit < i * 5 + 5; ++bit) {
      const bool set = bit >= 2 && ((bytes[(bit - 2) / 8] >> (7 - (bit - 2) % 8)) & 1) != 0;
      value = value * 2 + (set ? 1 : 0);
    }
    text[i] = kAlphabet[value];
  }
  return text;
}

bool is_id_text(std::string_view text) { return text.size() == kLength && is_id_prefix(text); }

bool is_id_prefix(std::string_view text) {
  return text.size() >= 6 && text.size() <= kLength &&
         std::all_of(text.begin(), text.end(), [](char c) { return kAlphabet.find(c) != std::string_view::npos; });
}

}  // namespace forge
