#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

int list_adapters(Context& context, bool as_json) {
  const auto rows = context.services.probe_adapters(context.stop);
  if (as_json) {
    nlohmann::json items = nlohmann::json::array();
    for (const auto& row : rows)
      items.push_back({{"name", row.name}, {"usable", row.available}, {"detail", row.detail}, {"remedy", row.remedy}});
    context.console.print(dump_json({{"items", std::move(items)}}) + "\n");
    return 0;
  }
  const Paint& paint = context.console.out_paint;
  for (const auto& row : rows)
    context.console.print(fmt::format("{} {} {}\n", padded(row.name, 14),
                                      row.available ? paint.green(padded("usable", 10)) : paint.red(padded("not usable", 10)),
                                      harmless(row.available || row.remedy.empty() ? row.detail : row.detail + ": " + row.remedy)));
  return 0;
}

}  // namespace

Verb adapter_verb() {
  const auto json = std::make_shared<bool>(false);
  Verb list{.name = "list",
            .summary = "List the agents that this Forge can run",
            .options = {{.name = "--json", .value = {}, .help = "As one JSON object", .target = json.get()}},
            .run = [json](Context& context) { return list_adapters(context, *json); }};
  return {.name = "adapter", .summary = "Agents that this Forge can run", .group = "This machine", .verbs = {std::move(list)}};
}

}  // namespace forge::cli
