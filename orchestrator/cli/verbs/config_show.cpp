#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

nlohmann::json as_json(Services& services) {
  nlohmann::json keys = nlohmann::json::object();
  for (const ConfigRow& row : services.config_rows())
    keys[row.key] = {{"value", nlohmann::json::parse(row.value_json)}, {"source", row.source}};
  return {{"file", services.config_file()}, {"data_dir", services.data_dir()}, {"keys", std::move(keys)}};
}

/// Lines that look like the file, with the source as a comment.
std::string as_text(Services& services, const Paint& paint) {
  const auto rows = services.config_rows();
  std::size_t key_columns = 0;
  std::size_t value_columns = 0;
  for (const ConfigRow& row : rows) {
    key_columns = std::max(key_columns, columns_of(row.key));
    // A long value pushes its own source out, not everybody's.
    if (columns_of(row.value) <= 40) value_columns = std::max(value_columns, columns_of(row.value));
  }
  std::string text = fmt::format("# file {}{}\n# data {}\n", services.config_file(), services.config_file_found() ? "" : " (not there)",
                                 services.data_dir());
  for (const ConfigRow& row : rows) {
    const std::string source = row.source == "default" ? paint.dim(row.source) : row.source;
    text += fmt::format("{} = {}  # {}\n", padded(row.key, key_columns), padded(harmless(row.value), value_columns), source);
  }
  return text;
}

}  // namespace

Verb config_verb() {
  const auto json = std::make_shared<bool>(false);
  Verb show{
      .name = "show",
      .summary = "Print every key with its value and where it comes from",
      .details = "Secrets are shown as (set) or (not set).",
      .examples = "  forge config show\n  FORGE_JOBS__MAX_TURNS=9 forge config show --json",
      .options = {{.name = "--json", .value = {}, .help = "As one JSON object", .target = json.get()}},
      .run = [json](Context& context) {
        context.console.print(*json ? dump_json(as_json(context.services)) + "\n" : as_text(context.services, context.console.out_paint));
        return 0;
      }};
  return {.name = "config", .summary = "Show the configuration in force", .group = "This machine", .verbs = {std::move(show)}};
}

}  // namespace forge::cli
