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

int install(Context& context, const std::string& name) {
  const Console& console = context.console;
  const bool done = context.services.install_adapter(
      name, [&](const std::string& text) { console.note(text); }, context.stop);
  console.print(done ? name + " is installed\n" : name + " was installed before\n");
  return 0;
}

int remove(Context& context, const std::string& name) {
  context.console.print(context.services.remove_adapter(name) ? name + " is removed\n" : name + " was not installed\n");
  return 0;
}

Verb install_verb() {
  const auto name = std::make_shared<std::string>();
  return {.name = "install",
          .summary = "Install an agent that is a program of its own",
          .details =
              "claude-code comes from npm's registry, with your own settings of npm, in the version that this Forge was checked\n"
              "against; no script of a package is run. Jobs then say --adapter claude-code.",
          .examples = "  forge adapter install claude-code",
          .positionals = {{.name = "NAME", .help = "claude-code", .target = name.get()}},
          .run = [name](Context& context) { return install(context, *name); }};
}

Verb remove_verb() {
  const auto name = std::make_shared<std::string>();
  return {.name = "remove",
          .summary = "Remove an agent that was installed",
          .positionals = {{.name = "NAME", .help = "claude-code", .target = name.get()}},
          .run = [name](Context& context) { return remove(context, *name); }};
}

}  // namespace

Verb adapter_verb() {
  const auto json = std::make_shared<bool>(false);
  Verb list{.name = "list",
            .summary = "List the agents that this Forge can run",
            .options = {{.name = "--json", .value = {}, .help = "As one JSON object", .target = json.get()}},
            .run = [json](Context& context) { return list_adapters(context, *json); }};
  return {.name = "adapter",
          .summary = "Agents that this Forge can run",
          .group = "This machine",
          .verbs = {std::move(list), install_verb(), remove_verb()}};
}

}  // namespace forge::cli
