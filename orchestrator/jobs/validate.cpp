#include "orchestrator/jobs/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::jobs {
namespace {

template <typename Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

[[noreturn]] void unknown(const std::string& field, const std::string& name, const std::vector<std::string>& known) {
  throw bad_input(field, fmt::format("there is no {} named '{}'", field, name), fmt::format("use one of: {}", fmt::join(known, ", ")));
}

void check_range(const std::string& field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    throw bad_input(field, fmt::format("{} is out of range", value), fmt::format("use {} to {}", least, most));
}

void check_limits(const RunLimits& limits) {
  constexpr std::int64_t kDay = 24 * 3600;
  check_range("limits.max_turns", limits.max_turns, 1, 10'000);
  check_range("limits.time_limit_s", limits.time_limit_s, 1, 7 * kDay);
  check_range("limits.stall_limit_s", limits.stall_limit_s, 1, kDay);
  check_range("limits.max_tokens", limits.max_tokens, 1, 10'000'000'000);
  check_range("limits.verify_rounds", limits.verify_rounds, 0, 20);
}

void check_commands(const std::string& field, const std::vector<std::string>& commands) {
  for (std::size_t i = 0; i < commands.size(); ++i)
    if (trim(commands[i]).empty())
      throw bad_input(fmt::format("{}[{}]", field, i), "an empty command", "leave it out, or write a shell command");
}

}  // namespace

adapters::AgentAdapter& find_adapter(const std::string& name, const ServiceParts& parts) {
  std::vector<std::string> known;
  for (auto* adapter : parts.adapters) {
    if (adapter->name() == name) return *adapter;
    known.emplace_back(adapter->name());
  }
  unknown("adapter", name, known);
}

void validate(const JobSpec& spec, const ServiceParts& parts) {
  if (spec.repository.empty()) throw bad_input("repository", "no repository was named", "a path, a file:// URL or an http(s):// URL");
  git::check_repository_name(spec.repository);
  if (trim(spec.task).empty()) throw bad_input("task", "the task is empty", "say in a sentence or more what should change");
  if (!parts.drivers.contains(spec.driver)) unknown("driver", spec.driver, keys_of(parts.drivers));
  if (!parts.templates.contains(spec.template_name)) unknown("template", spec.template_name, keys_of(parts.templates));
  check_limits(spec.limits);
  check_commands("setup", spec.setup);
  check_commands("verify", spec.verify);
  if (spec.budget_nano_usd && *spec.budget_nano_usd <= 0)
    throw bad_input("budget", "the budget must be more than 0", "leave it out for no budget");
  find_adapter(spec.adapter, parts).check(spec);
}

}  // namespace forge::jobs
