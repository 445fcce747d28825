#include "orchestrator/store/spec_json.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"

namespace forge::store {
namespace {

using nlohmann::json;

/// Visits each field with its stored name: one list for writing and reading, so that neither can forget one.
template <typename Spec, typename Visit>
void each_field(Spec& spec, Visit&& visit) {
  visit("repository", spec.repository);
  visit("base", spec.base);
  visit("task", spec.task);
  visit("title", spec.title);
  visit("adapter", spec.adapter);
  visit("model", spec.model);
  visit("template", spec.template_name);
  visit("driver", spec.driver);
  visit("setup", spec.setup);
  visit("verify", spec.verify);
  visit("max_turns", spec.limits.max_turns);
  visit("time_limit_s", spec.limits.time_limit_s);
  visit("stall_limit_s", spec.limits.stall_limit_s);
  visit("max_tokens", spec.limits.max_tokens);
  visit("verify_rounds", spec.limits.verify_rounds);
  visit("allow_hosts", spec.network.allow_hosts);
  visit("push", spec.push);
}

template <typename Read>
auto parsed(const std::string& text, std::string_view what, Read&& read) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& e) {
    throw Error(ErrorCode::corrupt, std::string(what) + " in the database: " + e.what());
  }
}

}  // namespace

// The budget stands apart: json.hpp has no conversion for std::optional.
std::string spec_to_json(const JobSpec& spec) {
  json object;
  each_field(spec, [&](const char* name, const auto& field) { object[name] = field; });
  if (spec.budget_nano_usd) object["budget_nano_usd"] = *spec.budget_nano_usd;
  return dump_json(object);
}

JobSpec spec_from_json(const std::string& text) {
  return parsed(text, "spec of a job", [](const json& object) {
    JobSpec spec;
    each_field(spec, [&](const char* name, auto& field) {
      if (object.contains(name)) object.at(name).get_to(field);
    });
    if (object.contains("budget_nano_usd")) spec.budget_nano_usd = object.at("budget_nano_usd").get<std::int64_t>();
    return spec;
  });
}

std::string verify_to_json(const std::vector<VerifyResult>& results) {
  json list = json::array();
  for (const VerifyResult& result : results) list.push_back({{"command", result.command}, {"exit_code", result.exit_code}});
  return dump_json(list);
}

std::vector<VerifyResult> verify_from_json(const std::string& text) {
  return parsed(text, "verify results", [](const json& list) {
    std::vector<VerifyResult> results;
    for (const json& item : list) results.push_back({item.at("command").get<std::string>(), item.at("exit_code").get<int>()});
    return results;
  });
}

std::string texts_to_json(const std::vector<std::string>& texts) { return dump_json(json(texts)); }

std::vector<std::string> texts_from_json(const std::string& text) {
  return parsed(text, "list of texts", [](const json& list) { return list.get<std::vector<std::string>>(); });
}

}  // namespace forge::store
