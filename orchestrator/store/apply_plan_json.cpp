#include "orchestrator/store/apply_plan_json.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/from_base64.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"

namespace forge::store {
namespace {

using nlohmann::json;

Error corrupt_plan(const std::string& what) { return Error(ErrorCode::corrupt, "plan of an apply in the database: " + what); }

std::string bytes_at(const json& object, const char* name) {
  auto bytes = from_base64(object.at(name).get_ref<const std::string&>());
  if (!bytes) throw corrupt_plan(std::string(name) + " is not base64");
  return std::move(*bytes);
}

}  // namespace

std::string plan_to_json(const ApplyPlan& plan) {
  json suggestions = json::array();
  for (const PlannedSuggestion& suggestion : plan.suggestions)
    suggestions.push_back({{"comment", suggestion.comment.str()},
                           {"path", base64(suggestion.path)},
                           {"start_line", suggestion.start_line},
                           {"end_line", suggestion.end_line},
                           {"text", base64(suggestion.text)}});
  return dump_json({{"hunks", plan.hunks}, {"suggestions", suggestions}, {"message", plan.message}, {"push", plan.push}});
}

ApplyPlan plan_from_json(const std::string& text) {
  try {
    const json object = json::parse(text);
    ApplyPlan plan;
    object.at("hunks").get_to(plan.hunks);
    for (const json& item : object.at("suggestions"))
      plan.suggestions.push_back({.comment = CommentId(item.at("comment").get<std::string>()),
                                  .path = bytes_at(item, "path"),
                                  .start_line = item.at("start_line").get<int>(),
                                  .end_line = item.at("end_line").get<int>(),
                                  .text = bytes_at(item, "text")});
    object.at("message").get_to(plan.message);
    object.at("push").get_to(plan.push);
    return plan;
  } catch (const json::exception& e) {
    throw corrupt_plan(e.what());
  }
}

}  // namespace forge::store
