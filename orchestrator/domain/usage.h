#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forge {

/// Tokens of one model request or of many: four disjoint counts, whatever the vendor's own fields overlap in.
struct Usage {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;
  /// Of cache_write, and no fifth count beside it: what was written for an hour, which has a price of its own. Known while a response is
  /// priced; neither stored nor shown.
  std::int64_t cache_write_hour = 0;
  /// Sums stop at the largest number instead of wrapping around: the counts come from elsewhere.
  std::int64_t total() const;
  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

/// Nano-dollars per million tokens (1 USD per million = 1'000'000'000).
struct Price {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;
  /// A higher row counts for the whole request when input + cache_read + cache_write is above its threshold.
  struct Tier {
    std::int64_t input_tokens_above = 0;
    std::int64_t input = 0;
    std::int64_t output = 0;
    std::int64_t cache_read = 0;
    std::int64_t cache_write = 0;
  };
  std::vector<Tier> tiers;  ///< ascending by threshold
};

/// Nano-dollars of one request: the sum of count x price over the four counts, divided by 1'000'000 once, rounded half up. What was written
/// into the cache for an hour costs twice the input price; `cache_write` is the price of what is kept for minutes.
std::int64_t cost_nano_usd(const Usage& usage, const Price& price);

/// "$0.0123", at least four digits after the point and no more than nine; "unpriced" for nothing.
std::string format_usd(std::optional<std::int64_t> nano_usd);
/// Decimal dollars ("1.5") to nano-dollars; throws bad_input(field) on anything else, negative, or above 1'000'000 USD.
std::int64_t parse_usd(const std::string& text, const std::string& field);

}  // namespace forge
