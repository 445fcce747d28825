#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace forge::schema {

/// One JSON Schema (draft 7), compiled once and used often. Cheap to copy; `errors` may be called from any thread.
/// The keywords `pattern` and `patternProperties` are refused: std::regex, which would match them, overflows the stack on long input.
/// `format` is an annotation and is not checked.
class Schema {
 public:
  /// Throws invalid_argument when `json_text` is not JSON, no schema, or uses a refused keyword.
  static Schema compile(std::string_view json_text);

  /// What is wrong with `value`: "path: message" each, at most 10, in the order found; empty when it is valid. The path reads like
  /// "edits[0].old_text"; what concerns the whole value has no path. Messages say what would be right.
  std::vector<std::string> errors(const nlohmann::json& value) const;

 private:
  struct Compiled;
  explicit Schema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;  // shared by copies, never changed
};

}  // namespace forge::schema
