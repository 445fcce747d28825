#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

struct TokenOptions {
  std::string name;
  std::string role = "viewer";
  bool json = false;
  ServerChoice server;
};

nlohmann::json as_json(const TokenInfo& token) {
  nlohmann::json object{{"id", token.id},
                        {"name", token.name},
                        {"role", token.role},
                        {"created_ms", token.created_ms},
                        {"last_used_ms", token.last_used_ms == 0 ? nlohmann::json() : nlohmann::json(token.last_used_ms)},
                        {"revoked", token.revoked}};
  if (!token.secret.empty()) object["secret"] = token.secret;
  return object;
}

/// The secret alone goes to standard output, where a script takes it; the explanation does not.
int create(Context& context, const TokenOptions& options) {
  Connection connection = connect(context, options.server, EngineUse::look);
  const TokenInfo token = connection.client.create_token(options.name, options.role, context.stop);
  if (options.json) {
    context.console.print(dump_json(as_json(token)) + "\n");
    return 0;
  }
  context.console.print(token.secret + "\n");
  context.console.note(
      fmt::format("This is the only time that the token \"{}\" ({}) is shown: it is stored as a hash.", harmless(token.name), token.role));
  return 0;
}

std::string ago(std::int64_t then_ms, std::int64_t now_ms) {
  const std::string text = age(then_ms, now_ms);
  return text == "just now" ? text : text + " ago";
}

int list(Context& context, const TokenOptions& options) {
  Connection connection = connect(context, options.server, EngineUse::look);
  const auto tokens = connection.client.tokens(context.stop);
  if (options.json) {
    nlohmann::json items = nlohmann::json::array();
    for (const TokenInfo& token : tokens) items.push_back(as_json(token));
    context.console.print(dump_json({{"items", std::move(items)}}) + "\n");
    return 0;
  }
  if (tokens.empty()) context.console.print("no tokens\n");
  const std::int64_t now_ms = SystemClock().now_ms();
  for (const TokenInfo& token : tokens)
    context.console.print(fmt::format("{} {} {} made {}, used {}{}\n", padded(token.id.substr(0, 10), 10),
                                      padded(one_line(token.name, 24), 24), padded(token.role, 8), ago(token.created_ms, now_ms),
                                      token.last_used_ms == 0 ? "never" : ago(token.last_used_ms, now_ms),
                                      token.revoked ? ", revoked" : ""));
  return 0;
}

int revoke(Context& context, const TokenOptions& options) {
  Connection connection = connect(context, options.server, EngineUse::look);
  const TokenInfo token = connection.client.revoke_token(options.name, context.stop);
  context.console.print(options.json ? dump_json(as_json(token)) + "\n"
                                     : fmt::format("revoked \"{}\"\n", harmless(token.name.empty() ? options.name : token.name)));
  return 0;
}

Verb with_common(Verb verb, const std::shared_ptr<TokenOptions>& o) {
  verb.options.push_back({.name = "--json", .value = {}, .help = "As one JSON object", .target = &o->json});
  for (auto& option : server_options(o->server)) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace

Verb token_verb() {
  const auto o = std::make_shared<TokenOptions>();
  Verb create_verb{.name = "create",
                   .summary = "Make a token and print it, once",
                   .examples = "  forge token create ci --role operator",
                   .options = {{.name = "--role",
                                .value = "ROLE",
                                .help = "What it may do; viewer unless said",
                                .target = &o->role,
                                .choices = {"admin", "operator", "reviewer", "viewer"}}},
                   .positionals = {{.name = "NAME", .help = "Whose it is, or what for", .target = &o->name}},
                   .run = [o](Context& context) { return create(context, *o); }};
  Verb list_verb{
      .name = "list", .summary = "List tokens, without their secrets", .run = [o](Context& context) { return list(context, *o); }};
  Verb revoke_verb{.name = "revoke",
                   .summary = "End a token, its sessions and streams",
                   .examples = "  forge token revoke ci",
                   .positionals = {{.name = "NAME|ID", .help = "The token", .target = &o->name}},
                   .run = [o](Context& context) { return revoke(context, *o); }};
  return {
      .name = "token",
      .summary = "Tokens for the HTTP API",
      .group = "Server",
      .details = "Roles: viewer reads; reviewer also comments and decides; operator also creates, applies and cancels; admin everything.",
      .verbs = {with_common(std::move(create_verb), o), with_common(std::move(list_verb), o), with_common(std::move(revoke_verb), o)}};
}

}  // namespace forge::cli
