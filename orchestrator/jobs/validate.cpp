#include "orchestrator/jobs/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "orchestrator/base/error.h"
#include "orchestrator/domain/job_json.h"

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
  check_job_spec(spec);
  git::check_repository_name(spec.repository);
  if (!parts.drivers.contains(spec.driver)) unknown("driver", spec.driver, keys_of(parts.drivers));
  if (!parts.templates.contains(spec.template_name)) unknown("template", spec.template_name, keys_of(parts.templates));
  find_adapter(spec.adapter, parts).check(spec);
}

}  // namespace forge::jobs
