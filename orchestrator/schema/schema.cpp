#include "orchestrator/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"

namespace forge::schema {

using nlohmann::json;

struct Schema::Compiled {
  json document;  // the source, to say what was expected
  valijson::Schema schema;
};

namespace {

using Finding = valijson::ValidationResults::Error;

constexpr std::size_t kMaxErrors = 10;
constexpr std::string_view kParentFailed = "Failed to validate";

// valijson would compile a pattern to std::regex, whose matcher recurses per character.
void make_safe(json& node);

void make_safe_members(json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end()) return;
  if (found->is_object() || found->is_array())
    for (json& member : *found) make_safe(member);
}

void make_safe_member(json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end()) return;
  if (found->is_array()) return make_safe_members(node, key);  // a tuple of schemas
  make_safe(*found);
}

/// Refuses the keywords that need std::regex and drops `format`, in this schema and those inside it.
void make_safe(json& node) {
  if (!node.is_object()) return;
  for (const char* refused : {"pattern", "patternProperties"})
    if (node.contains(refused))
      throw Error(ErrorCode::invalid_argument, fmt::format("the keyword '{}' is not supported in a schema", refused));
  node.erase("format");
  for (const char* schemas : {"properties", "definitions", "dependencies", "anyOf", "oneOf", "allOf"}) make_safe_members(node, schemas);
  for (const char* schema : {"items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"})
    make_safe_member(node, schema);
}

/// As JSON Schema names types, which knows integers.
std::string_view type_name(const json& value) {
  if (value.is_number_integer()) return "integer";
  return value.type_name();  // "number" for what has a fraction
}

/// The text between the first and the last single quote.
std::string quoted_part(const std::string& text) {
  const std::size_t first = text.find('\'');
  const std::size_t last = text.rfind('\'');
  return first == last ? std::string() : text.substr(first + 1, last - first - 1);
}

/// Where a finding is: its path, the value there and the schema that speaks about it (null when a keyword hides it).
struct Place {
  std::string path;
  const json* value = nullptr;
  const json* schema = nullptr;

  void descend(const std::string& step) {
    const std::string key = step.substr(1, step.size() - 2);  // valijson writes every step as "[key]"
    const bool in_array = value != nullptr && value->is_array();
    path += in_array ? step : path.empty() ? key : "." + key;
    value = in_array ? element(key) : member(value, key);
    schema = in_array ? member(schema, "items") : member(member(schema, "properties"), key);
  }
  std::string path_of(const std::string& key) const { return path.empty() ? key : path + "." + key; }

 private:
  const json* element(const std::string& index) const {
    const std::size_t at = std::stoul(index);
    return at < value->size() ? &(*value)[at] : nullptr;
  }
  static const json* member(const json* of, const std::string& key) {
    if (of == nullptr || !of->is_object()) return nullptr;
    const auto found = of->find(key);
    return found == of->end() ? nullptr : &*found;
  }
};

/// "a, b" of an array; a single value as it is.
std::string listed(const json& values) {
  if (!values.is_array()) return values.is_string() ? values.get<std::string>() : values.dump();
  std::string text;
  for (const json& value : values)
    text.append(text.empty() ? "" : ", ").append(value.is_string() ? value.get<std::string>() : value.dump());
  return text;
}

/// Misspelt names are the most common error: the nearest known one saves a turn.
std::string unknown_key(const Place& place, const std::string& key) {
  std::vector<std::string> known;
  if (place.schema != nullptr && place.schema->contains("properties"))
    for (const auto& [name, ignored] : place.schema->at("properties").items()) known.push_back(name);
  const std::string near = nearest(key, known);
  if (!near.empty()) return fmt::format("unknown field, did you mean '{}'?", near);
  return fmt::format("unknown field, known are: {}", fmt::join(known, ", "));
}

/// As the second half of "path: ...".
std::string plain(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  while (text.ends_with('.')) text.pop_back();
  return text;
}

std::string with_path(const std::string& path, const std::string& message) { return path.empty() ? message : path + ": " + message; }

/// The library's text turned into what would be right. Texts that we do not know stay as they are.
std::string sentence(const Place& place, const std::string& text) {
  if (text.starts_with("Missing required property")) return with_path(place.path_of(quoted_part(text)), "is missing");
  if (text.starts_with("Object contains a property")) {
    const std::string key = quoted_part(text.substr(text.rfind(": ")));
    return with_path(place.path_of(key), unknown_key(place, key));
  }
  const bool schema_known = place.schema != nullptr && place.value != nullptr;
  if (text.starts_with("Value type not permitted") && schema_known && place.schema->contains("type"))
    return with_path(place.path, fmt::format("expected {}, found {}", listed(place.schema->at("type")), type_name(*place.value)));
  if (text.starts_with("Failed to match against any enum") && schema_known && place.schema->contains("enum"))
    return with_path(place.path, fmt::format("must be one of: {}", listed(place.schema->at("enum"))));
  return with_path(place.path, plain(text));
}

/// True when `finding` only says that something inside failed, and that is listed too.
bool repeats_inner(const Finding& finding, const valijson::ValidationResults& all) {
  if (!finding.description.starts_with(kParentFailed)) return false;
  return std::any_of(all.begin(), all.end(), [&](const Finding& other) {
    return &other != &finding && !other.description.starts_with(kParentFailed) && other.context.size() >= finding.context.size() &&
           std::equal(finding.context.begin(), finding.context.end(), other.context.begin());
  });
}

}  // namespace

Schema Schema::compile(std::string_view json_text) {
  return doing("compiling a JSON schema", [&] {
    auto compiled = std::make_shared<Compiled>();
    compiled->document = parse_json(json_text, "the schema");
    make_safe(compiled->document);
    try {
      valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
      parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(compiled->document), compiled->schema);
    } catch (const std::exception& e) {
      throw Error(ErrorCode::invalid_argument, e.what());
    }
    return Schema(std::move(compiled));
  });
}

std::vector<std::string> Schema::errors(const json& value) const {
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(compiled_->schema, valijson::adapters::NlohmannJsonAdapter(value), &results)) return {};
  std::vector<std::string> texts;
  for (const Finding& finding : results) {
    if (texts.size() == kMaxErrors) break;
    if (repeats_inner(finding, results)) continue;
    Place place{"", &value, &compiled_->document};
    for (std::size_t i = 1; i < finding.context.size(); ++i) place.descend(finding.context[i]);  // the first is "<root>"
    texts.push_back(sentence(place, finding.description));
  }
  if (texts.empty()) texts.emplace_back("does not match the schema");
  return texts;
}

}  // namespace forge::schema
