#include <fmt/format.h>

#include <memory>

#include "orchestrator/cli/context.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

int serve(Context& context) {
  const Console& console = context.console;
  context.services.serve(
      [&console](const Listening& at) {
        console.print(fmt::format("Forge is up at {}\n", at.url));
        if (!at.sign_in_url.empty()) console.print(fmt::format("Sign in (once, within 15 minutes): {}\n", at.sign_in_url));
        console.print(fmt::format("Command line of this machine: through {}\n", at.socket));
      },
      context.stop);
  return 0;
}

}  // namespace

Verb serve_verb() {
  const auto listen = std::make_shared<std::string>();
  return {.name = "serve",
          .summary = "Run the server: HTTP API, dashboard, workers",
          .group = "Server",
          .details =
              "Owns the data directory; the other verbs on this machine then go through its unix socket.\n"
              "SIGTERM or Ctrl-C lets running jobs end, a second one stops at once.",
          .examples = "  forge serve\n  forge serve --listen 127.0.0.1:9000",
          .options = {{.name = "--listen",
                       .value = "ADDRESS:PORT",
                       .help = "Listen there instead of server.listen; port 0 is any free one",
                       .target = listen.get()}},
          .configure =
              [listen](ConfigChoice& choice) {
                if (!listen->empty()) choice.overrides.push_back({"server.listen", *listen, "--listen"});
              },
          .run = [listen](Context& context) { return serve(context); }};
}

}  // namespace forge::cli
