#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {

Verb version_verb() {
  const auto json = std::make_shared<bool>(false);
  return {.name = "version",
          .summary = "Print the version",
          .group = "This machine",
          .options = {{.name = "--json", .value = {}, .help = "As one JSON object", .target = json.get()}},
          .needs_config = false,
          .run = [json](Context& context) {
            context.console.print(*json ? dump_json({{"version", FORGE_VERSION}}) + "\n" : std::string("forge ") + FORGE_VERSION + "\n");
            return 0;
          }};
}

}  // namespace forge::cli
