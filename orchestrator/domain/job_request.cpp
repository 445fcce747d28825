#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/format.h>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/budget.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/domain/words.h"

namespace forge {
namespace {

using nlohmann::json;

/// One limit: its key, its field and its range. Upper ends are where a typing error is likelier than a wish.
struct LimitRule {
  const char* key;
  std::int64_t RunLimits::*field;
  std::int64_t least;
  std::int64_t most;
};
constexpr std::int64_t kDaySeconds = 24LL * 60 * 60;
constexpr LimitRule kLimitRules[] = {
    {"max_turns", &RunLimits::max_turns, 1, 10'000},
    {"time_limit_s", &RunLimits::time_limit_s, 1, 7 * kDaySeconds},
    {"stall_limit_s", &RunLimits::stall_limit_s, 1, kDaySeconds},
    {"max_tokens", &RunLimits::max_tokens, 1, 1'000'000'000'000},
    {"verify_rounds", &RunLimits::verify_rounds, 0, 20},
};
void read_limits(const json& value, const std::string& path, RunLimits& limits) {
  JsonReader reader(value, path);
  for (const LimitRule& rule : kLimitRules)
    if (const auto given = reader.optional_integer(rule.key, rule.least, rule.most)) limits.*rule.field = *given;
  reader.finish();
}

/// What every run may reach stays allowed: a request adds to it.
void read_network(const json& value, const std::string& path, NetworkPolicy& policy) {
  JsonReader reader(value, path);
  for (std::string& host : reader.texts("allow_hosts", kListItems)) {
    auto& hosts = policy.allow_hosts;
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(std::move(host));
  }
  reader.finish();
}

void read_text(JsonReader& reader, const char* key, std::string& into) {
  if (auto given = reader.optional_text(key)) into = std::move(*given);
}

void read_texts(JsonReader& reader, const char* key, std::vector<std::string>& into) {
  if (reader.find(key) != nullptr) into = reader.texts(key, kListItems);
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void check_line(const char* field, const std::string& text, std::size_t most_bytes) {
  if (text.size() > most_bytes) throw bad_input(field, fmt::format("longer than {} bytes", most_bytes));
  if (has_control(text)) throw bad_input(field, "holds control characters");
}

void check_commands(const std::string& field, const std::vector<std::string>& commands) {
  if (commands.size() > kListItems) throw bad_input(field, fmt::format("more than {} commands", kListItems));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", field, i);
    if (trim(commands[i]).empty()) throw bad_input(at, "is empty");
    check_words(at, commands[i], kCommandBytes);
  }
}

bool is_host_pattern(std::string_view host) {
  if (host.empty() || host.size() > 255) return false;
  return std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_*:[]").find(c) != std::string_view::npos;
  });
}

void check_hosts(const std::vector<std::string>& hosts) {
  if (hosts.size() > kListItems) throw bad_input("network.allow_hosts", fmt::format("more than {} hosts", kListItems));
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (!is_host_pattern(hosts[i]))
      throw bad_input(fmt::format("network.allow_hosts[{}]", i), "is not a host name",
                      "a name as in example.com, or *.example.com for all below it");
}

void check_limits(const RunLimits& limits) {
  for (const LimitRule& rule : kLimitRules) {
    const std::int64_t value = limits.*rule.field;
    if (value < rule.least || value > rule.most)
      throw bad_input(std::string("limits.") + rule.key, fmt::format("{} is not from {} to {}", value, rule.least, rule.most));
  }
}

}  // namespace

void check_repository(const std::string& repository) {
  if (repository.empty()) throw bad_input("repository", "is empty", "a path or URL of a git repository");
  check_line("repository", repository, kRepositoryBytes);
}

void check_job_spec(const JobSpec& spec) {
  check_repository(spec.repository);
  check_line("base", spec.base, kRepositoryBytes);
  if (trim(spec.task).empty()) throw bad_input("task", "is empty", "say in words what the agent is to do");
  check_words("task", spec.task, kTaskBytes, "put long material into the repository");
  if (characters(spec.title) > kTitleCharacters) throw bad_input("title", fmt::format("longer than {} characters", kTitleCharacters));
  check_line("title", spec.title, kTitleCharacters * 4);
  check_line("adapter", spec.adapter, kNameBytesMax);
  check_line("model", spec.model, kRepositoryBytes);  // scripted:FILE holds a path
  check_line("template", spec.template_name, kNameBytesMax);
  check_line("driver", spec.driver, kNameBytesMax);
  check_commands("setup", spec.setup);
  check_commands("verify", spec.verify);
  check_hosts(spec.network.allow_hosts);
  check_limits(spec.limits);
  check_budget(spec.budget_nano_usd);
}

JobRequest job_request_from_json(const json& body, JobSpec defaults) {
  JobRequest request{std::move(defaults), true};
  JobSpec& spec = request.spec;
  JsonReader reader(body);
  spec.repository = reader.text("repository");
  spec.task = reader.text("task");
  read_text(reader, "base", spec.base);
  read_text(reader, "title", spec.title);
  read_text(reader, "adapter", spec.adapter);
  read_text(reader, "model", spec.model);
  read_text(reader, "template", spec.template_name);
  read_text(reader, "driver", spec.driver);
  read_texts(reader, "setup", spec.setup);
  read_texts(reader, "verify", spec.verify);
  if (const json* limits = reader.find("limits")) read_limits(*limits, reader.path_of("limits"), spec.limits);
  if (const json* network = reader.find("network")) read_network(*network, reader.path_of("network"), spec.network);
  if (const auto budget = read_budget(reader)) spec.budget_nano_usd = budget;
  spec.push = reader.optional_flag("push").value_or(spec.push);
  request.start = reader.optional_flag("start").value_or(true);
  reader.finish();
  check_job_spec(spec);
  return request;
}

json to_json(const JobRequest& request, const JobSpec& unsaid) {
  const JobSpec& spec = request.spec;
  json body{{"repository", spec.repository}, {"task", spec.task}};
  const auto put = [&body](const char* key, const auto& value, const auto& left_out) {
    if (value != left_out) body[key] = value;
  };
  put("base", spec.base, unsaid.base);
  put("title", spec.title, unsaid.title);
  put("adapter", spec.adapter, unsaid.adapter);
  put("model", spec.model, unsaid.model);
  put("template", spec.template_name, unsaid.template_name);
  put("driver", spec.driver, unsaid.driver);
  put("setup", spec.setup, unsaid.setup);
  put("verify", spec.verify, unsaid.verify);
  for (const LimitRule& rule : kLimitRules)
    if (spec.limits.*rule.field != unsaid.limits.*rule.field) body["limits"][rule.key] = spec.limits.*rule.field;
  if (spec.network.allow_hosts != unsaid.network.allow_hosts) body["network"]["allow_hosts"] = spec.network.allow_hosts;
  if (spec.budget_nano_usd && spec.budget_nano_usd != unsaid.budget_nano_usd) body["budget"]["run_nano_usd"] = *spec.budget_nano_usd;
  put("push", spec.push, unsaid.push);
  if (!request.start) body["start"] = false;
  return body;
}

}  // namespace forge
