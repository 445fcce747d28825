#include "orchestrator/cli/connection.h"

#include <fmt/format.h>

#include <cstdlib>

#include "orchestrator/base/error.h"
#include "orchestrator/base/ids.h"
#include "orchestrator/base/loopback.h"
#include "orchestrator/base/text.h"

namespace forge::cli {
namespace {

/// The option wins, though the variable is better: what stands in a command line, `ps` shows to everybody.
std::string token_of(const ServerChoice& choice) {
  if (!choice.token.empty()) return choice.token;
  const char* variable = std::getenv("FORGE_TOKEN");
  return variable == nullptr ? "" : variable;
}

/// Where a token without TLS does not leave the machine.
bool is_loopback_url(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return false;
  const std::string_view rest = std::string_view(url).substr(kScheme.size());
  return is_loopback_authority(rest.substr(0, rest.find_first_of("/?#")));
}

Endpoint remote(Context& context, const ServerChoice& choice) {
  if (!choice.url.starts_with("http://") && !choice.url.starts_with("https://"))
    throw bad_input("--server", fmt::format("--server must be an http or https URL, not \"{}\"", choice.url),
                    "for example http://127.0.0.1:8700");
  Endpoint endpoint{.url = choice.url, .socket = {}, .token = token_of(choice)};
  if (!endpoint.token.empty() && !choice.url.starts_with("https://") && !is_loopback_url(choice.url))
    context.console.note("warning: the token goes to " + endpoint.shown() + " without encryption");
  return endpoint;
}

}  // namespace

std::vector<Option> server_options(ServerChoice& choice) {
  return {
      {.name = "--server",
       .value = "URL",
       .help = "Work through that server instead of this machine's data directory",
       .target = &choice.url,
       .group = "Server"},
      {.name = "--token",
       .value = "TOKEN",
       .help = "Token for --server; better in FORGE_TOKEN",
       .target = &choice.token,
       .group = "Server"},
  };
}

Connection connect(Context& context, const ServerChoice& choice, EngineUse use) {
  const auto own = std::make_shared<std::unique_ptr<EngineHandle>>();
  if (!choice.url.empty()) return {own, ApiClient(remote(context, choice))};
  EngineAccess access = context.services.open_engine(use, context.stop);
  *own = std::move(access.own);
  Endpoint endpoint{.url = {}, .socket = access.socket, .token = {}};
  // A server comes back, and works on its queue with its own configuration and keys: who asks it waits, and never takes its place.
  if (access.served) return {own, ApiClient(std::move(endpoint))};
  const auto take_over = [&context, own, use](const Stop& stop) -> std::optional<EngineUse> {
    if (!*own) *own = context.services.open_engine(use, stop).own;
    return *own ? std::optional(use) : std::nullopt;
  };
  ApiClient client(std::move(endpoint), take_over);
  if (*own) client.take_over(context.stop);  // it is told so from the start
  return {own, std::move(client)};
}

std::string job_id(const std::string& text) {
  std::string id = lower_ascii(text);
  if (!is_id_prefix(id))
    throw bad_input("", fmt::format("\"{}\" is not a job's id", one_line(text, 60)), "6 to 26 letters and digits; `forge jobs` lists them");
  return id;
}

}  // namespace forge::cli
