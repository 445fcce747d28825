#include "orchestrator/domain/usage.h"

#include <algorithm>
#include <limits>

#include "orchestrator/base/error.h"

namespace forge {
namespace {

// 20 million tokens at 1,000 dollars per million pass 64 bits before the division.
__extension__ using Wide = __int128;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kPricedTokens = 1'000'000;
constexpr std::int64_t kNanoPerDollar = 1'000'000'000;
constexpr std::int64_t kMostDollars = 1'000'000;
constexpr std::size_t kFractionDigits = 9;
constexpr std::size_t kShownDigits = 4;

/// Counts come from elsewhere: a sum that overflows sticks at the top, where every limit stops it.
std::int64_t added(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

/// Zero for counts below zero, and cut at what no result can exceed, so that the sum of six fits.
Wide product(std::int64_t count, std::int64_t price) { return std::clamp(Wide{count} * price, Wide{0}, Wide{kMost} * kPricedTokens); }

/// The row that counts for the whole request: the last tier whose threshold the prompt passes.
Price::Tier row_for(const Usage& usage, const Price& price) {
  Price::Tier row{.input_tokens_above = 0,
                  .input = price.input,
                  .output = price.output,
                  .cache_read = price.cache_read,
                  .cache_write = price.cache_write};
  // What came out does not choose the row.
  const Wide prompt = Wide{usage.input} + usage.cache_read + usage.cache_write;
  for (const Price::Tier& tier : price.tiers)
    if (prompt > tier.input_tokens_above) row = tier;
  return row;
}

std::int64_t digits_to_number(std::string_view digits) {
  std::int64_t value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::int64_t Usage::total() const { return added(added(input, output), added(cache_read, cache_write)); }

Usage& Usage::operator+=(const Usage& other) {
  input = added(input, other.input);
  output = added(output, other.output);
  cache_read = added(cache_read, other.cache_read);
  cache_write = added(cache_write, other.cache_write);
  cache_write_hour = added(cache_write_hour, other.cache_write_hour);
  return *this;
}

std::int64_t cost_nano_usd(const Usage& usage, const Price& price) {
  const Price::Tier row = row_for(usage, price);
  const std::int64_t hour = std::clamp<std::int64_t>(usage.cache_write_hour, 0, std::max<std::int64_t>(usage.cache_write, 0));
  const Wide sum = product(usage.input, row.input) + product(usage.output, row.output) + product(usage.cache_read, row.cache_read) +
                   product(usage.cache_write - hour, row.cache_write) + 2 * product(hour, row.input);
  const Wide cost = (sum + kPricedTokens / 2) / kPricedTokens;
  return static_cast<std::int64_t>(std::min(cost, Wide{kMost}));
}

std::string format_usd(std::optional<std::int64_t> nano_usd) {
  if (!nano_usd) return "unpriced";
  // Unsigned, because the smallest number has no positive twin.
  const auto bits = static_cast<std::uint64_t>(*nano_usd);
  const std::uint64_t amount = *nano_usd < 0 ? 0 - bits : bits;
  std::string fraction = std::to_string(amount % kNanoPerDollar);
  fraction.insert(0, kFractionDigits - fraction.size(), '0');
  while (fraction.size() > kShownDigits && fraction.back() == '0') fraction.pop_back();
  return (*nano_usd < 0 ? "-$" : "$") + std::to_string(amount / kNanoPerDollar) + "." + fraction;
}

std::int64_t parse_usd(const std::string& text, const std::string& field) {
  const auto refuse = [&](const std::string& why) { return bad_input(field, why, "an amount in dollars, for example 1.5"); };
  // By hand and not by strtod: a binary fraction would not be the amount that was typed.
  const std::string_view whole = std::string_view(text).substr(0, text.find('.'));
  std::string fraction = whole.size() == text.size() ? "0" : text.substr(whole.size() + 1);
  if (!all_digits(whole) || !all_digits(fraction)) throw refuse("not an amount of dollars");
  if (fraction.size() > kFractionDigits) throw refuse("more than nine digits after the point");
  if (whole.size() > 7 || digits_to_number(whole) > kMostDollars) throw refuse("above 1000000 dollars");
  fraction.append(kFractionDigits - fraction.size(), '0');
  const std::int64_t amount = digits_to_number(whole) * kNanoPerDollar + digits_to_number(fraction);
  if (amount > kMostDollars * kNanoPerDollar) throw refuse("above 1000000 dollars");
  return amount;
}

}  // namespace forge
