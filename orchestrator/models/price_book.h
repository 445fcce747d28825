#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/domain/usage.h"

namespace forge::models {

/// What is known about one model.
struct PriceRow {
  std::string model;                ///< "provider/model"
  std::optional<Price> price;       ///< nothing = unknown: a zero in the file that is not marked free
  std::int64_t context_window = 0;  ///< tokens; 0 = unknown
  std::string hash;                 ///< 16 hex digits over the name and the figures: which row a cost was made with
};

/// Prices and context windows by model, read once at the start: the rows built into Forge (dated, with their source), then the operator's
/// file, whose rows replace those of the same name. Format: docs/models.md.
class PriceBook {
 public:
  /// The built-in rows alone.
  PriceBook();
  /// The built-in rows and those of `file` ("" = none). Throws not_found, bad_input naming file, model and field.
  static PriceBook load(const std::string& file);
  /// Adds the rows of a price file. `origin` names it in errors.
  void add(std::string_view json_text, const std::string& origin);

  /// The row of "provider/model", of a bare model name that only one provider has, or of "scripted:FILE". A dated snapshot
  /// ("claude-haiku-4-5-20251001") without a row of its own has the row of its undated name.
  std::optional<PriceRow> find(std::string_view name) const;
  /// All rows of a provider, by name.
  std::vector<PriceRow> rows_of(const std::string& provider) const;
  /// Price of the model, or nothing: unknown is never 0.
  std::optional<Price> price(std::string_view name) const;
  /// The provider of a bare model name; "" when no provider or more than one has it.
  std::string provider_of(std::string_view model) const;
  /// The model a provider is asked for when nobody named one; "" when there is none.
  std::string default_model(const std::string& provider) const;
  /// "2026-11-20": how old the built-in prices are.
  const std::string& date() const { return date_; }
  const std::string& source() const { return source_; }

 private:
  std::map<std::string, PriceRow, std::less<>> rows_;
  std::map<std::string, std::string> defaults_;
  std::string date_;
  std::string source_;
};

}  // namespace forge::models
