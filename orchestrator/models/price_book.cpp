#include "orchestrator/models/price_book.h"

#include <embedded/model_prices.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/crypto/crypto.h"

namespace forge::models {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostPrice = 1'000'000'000'000'000;  // a million dollars per million tokens
constexpr std::int64_t kMostTokens = 1'000'000'000;
constexpr std::size_t kHashDigits = 16;  // 64 bits: enough to tell rows apart, short enough for a trace

/// Which of the four prices may be zero because they really are.
struct Free {
  bool all = false;
  std::vector<std::string> names;
  bool has(std::string_view name) const { return all || std::find(names.begin(), names.end(), name) != names.end(); }
};

/// `free` is true for the whole row, or a list of field names.
Free read_free(JsonReader& row) {
  const json* value = row.find("free");
  if (value == nullptr) return {};
  if (value->is_boolean()) return {.all = value->get<bool>(), .names = {}};
  return {.all = false, .names = row.texts("free", 4)};
}

/// Reads the four prices. `known` becomes false at a zero that is not marked free.
template <typename Prices>
void read_prices(JsonReader& row, const Free& free, Prices& prices, bool& known) {
  const auto read = [&](std::string_view name) {
    const std::int64_t value = free.has(name) ? row.optional_integer(name, 0, kMostPrice).value_or(0) : row.integer(name, 0, kMostPrice);
    known = known && (value != 0 || free.has(name));
    return value;
  };
  prices.input = read("input");
  prices.output = read("output");
  prices.cache_read = read("cache_read");
  prices.cache_write = read("cache_write");
}

std::vector<Price::Tier> read_tiers(JsonReader& row, const Free& free, bool& known) {
  std::vector<Price::Tier> tiers;
  const json* list = row.find("tiers");
  if (list == nullptr) return tiers;
  if (!list->is_array()) throw bad_input(row.path_of("tiers"), "expected an array of objects");
  for (const json& entry : *list) {
    JsonReader reader(entry, row.path_of("tiers") + "[" + std::to_string(tiers.size()) + "]");
    Price::Tier tier;
    tier.input_tokens_above = reader.integer("input_tokens_above", 1, kMostTokens);
    read_prices(reader, free, tier, known);
    reader.finish();
    if (!tiers.empty() && tier.input_tokens_above <= tiers.back().input_tokens_above)
      throw bad_input(reader.path_of("input_tokens_above"), "tiers must stand in ascending order");
    tiers.push_back(tier);
  }
  return tiers;
}

/// Throws bad_input whose field is "models.NAME.field".
PriceRow read_row(const std::string& model, const json& entry) {
  JsonReader reader(entry, "models." + model);
  const Free free = read_free(reader);
  PriceRow row{.model = model, .price = {}, .context_window = 0, .hash = {}};
  Price price;
  bool known = true;
  read_prices(reader, free, price, known);
  price.tiers = read_tiers(reader, free, known);
  row.context_window = reader.optional_integer("context_window", 0, kMostTokens).value_or(0);
  reader.finish();
  if (known) row.price = price;
  row.hash = crypto::sha256_hex(model + "\n" + dump_json(entry)).substr(0, kHashDigits);
  return row;
}

bool digits_at(std::string_view text, std::size_t at, std::size_t count) {
  const std::string_view part = text.substr(at, count);
  return part.size() == count && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The name without "-20251001" or "-2025-10-01" at its end; "" when it has no date.
std::string_view without_date(std::string_view name) {
  constexpr std::size_t kShort = 9;  // -YYYYMMDD
  constexpr std::size_t kLong = 11;  // -YYYY-MM-DD
  if (name.size() > kLong) {
    const std::size_t at = name.size() - kLong;
    if (name[at] == '-' && name[at + 5] == '-' && name[at + 8] == '-' && digits_at(name, at + 1, 4) && digits_at(name, at + 6, 2) &&
        digits_at(name, at + 9, 2))
      return name.substr(0, at);
  }
  if (name.size() > kShort && name[name.size() - kShort] == '-' && digits_at(name, name.size() - kShort + 1, kShort - 1))
    return name.substr(0, name.size() - kShort);
  return {};
}

std::string read_price_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw public_failure(ErrorCode::not_found, "the price file " + file + " cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

PriceBook::PriceBook() { add(embedded::model_prices, "the built-in price file"); }

PriceBook PriceBook::load(const std::string& file) {
  PriceBook book;
  if (!file.empty()) book.add(read_price_file(file), file);
  return book;
}

void PriceBook::add(std::string_view json_text, const std::string& origin) {
  doing("reading " + origin, [&] {
    const json whole = parse_json(json_text, origin);
    JsonReader reader(whole);
    const std::string date = reader.optional_text("date").value_or("");
    const std::string source = reader.optional_text("source").value_or("");
    reader.optional_text("unit");
    if (const json* defaults = reader.find("defaults")) {
      JsonReader names(*defaults, "defaults");
      for (const auto& [provider, model] : defaults->items()) defaults_[provider] = names.text(provider);
    }
    const json* models = reader.find("models");
    if (models == nullptr || !models->is_object()) throw bad_input("models", "expected an object of price rows");
    for (const auto& [model, entry] : models->items()) rows_[model] = read_row(model, entry);
    reader.finish();
    if (date_.empty()) {
      date_ = date;
      source_ = source;
    }
  });
}

std::optional<PriceRow> PriceBook::find(std::string_view name) const {
  if (name.starts_with("scripted:")) name = "scripted";
  if (const auto it = rows_.find(name); it != rows_.end()) return it->second;
  if (name.find('/') == std::string_view::npos) {
    if (const std::string provider = provider_of(name); !provider.empty()) return find(provider + "/" + std::string(name));
  }
  const std::string_view undated = without_date(name);
  return undated.empty() ? std::nullopt : find(undated);
}

std::vector<PriceRow> PriceBook::rows_of(const std::string& provider) const {
  std::vector<PriceRow> rows;
  for (auto at = rows_.lower_bound(provider + '/'); at != rows_.end() && at->first.starts_with(provider + '/'); ++at)
    rows.push_back(at->second);
  return rows;
}

std::optional<Price> PriceBook::price(std::string_view name) const {
  const auto row = find(name);
  return row ? row->price : std::nullopt;
}

std::string PriceBook::provider_of(std::string_view model) const {
  std::string provider;
  for (const auto& [name, row] : rows_) {
    const auto slash = name.find('/');
    if (slash == std::string::npos || std::string_view(name).substr(slash + 1) != model) continue;
    if (!provider.empty()) return {};
    provider = name.substr(0, slash);
  }
  if (const std::string_view undated = without_date(model); provider.empty() && !undated.empty()) return provider_of(undated);
  return provider;
}

std::string PriceBook::default_model(const std::string& provider) const {
  const auto it = defaults_.find(provider);
  return it == defaults_.end() ? std::string() : it->second;
}

}  // namespace forge::models
