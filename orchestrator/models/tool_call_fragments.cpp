#include "orchestrator/models/tool_call_fragments.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/models/json_fields.h"

namespace forge::models {
namespace {

using nlohmann::json;

std::string real_id(const json& fragment) {
  std::string id = text_field(fragment, "id");
  const std::string lowered = lower_ascii(id);
  if (lowered == "null" || lowered == "none" || lowered == "undefined") id.clear();
  return id;
}

/// Text as a rule; some servers send the object itself.
std::string arguments_of(const json& function) {
  const json* arguments = field(function, "arguments");
  if (arguments == nullptr) return {};
  return arguments->is_string() ? arguments->get<std::string>() : dump_json(*arguments);
}

/// Whether a fragment with that name but no new id begins another call than `call`, whose name was told before.
bool begins_another(const ToolCallFragments::Call& call, const std::string& name, const std::string& arguments) {
  if (name.empty() || call.name.empty()) return false;
  if (name != call.name) return true;
  // The same name: either repeated with each fragment, or a second call of the same tool. Only a whole object ends the first.
  return !call.arguments.empty() && is_strict_object(call.arguments) && (arguments.empty() || trim(arguments).starts_with('{'));
}

}  // namespace

void ToolCallFragments::take(const json& tool_calls) {
  if (!tool_calls.is_array()) return;
  for (const json& fragment : tool_calls)
    if (fragment.is_object()) take_one(fragment);
}

/// What is told first stays: later ids and names of the same call are repetitions.
void ToolCallFragments::take_one(const json& fragment) {
  const auto index = count_field(fragment, "index");
  const std::string id = real_id(fragment);
  const json* function = field(fragment, "function");
  const std::string name = function == nullptr ? std::string() : text_field(*function, "name");
  const std::string arguments = function == nullptr ? std::string() : arguments_of(*function);
  Call* call = owner_of(index, id, name, arguments);
  if (call == nullptr) call = &calls_.emplace_back(Call{.index = index, .id = {}, .name = {}, .arguments = {}});
  if (call->id.empty()) call->id = id;
  if (call->name.empty()) call->name = name;
  call->arguments += arguments;
}

/// The call that a fragment goes on with; null when it begins one.
ToolCallFragments::Call* ToolCallFragments::owner_of(const std::optional<std::int64_t>& index, const std::string& id,
                                                     const std::string& name, const std::string& arguments) {
  // The newest first: a server that reuses an index means its last call.
  const auto newest = [&](auto matches) -> Call* {
    const auto found = std::find_if(calls_.rbegin(), calls_.rend(), matches);
    return found == calls_.rend() ? nullptr : &*found;
  };
  Call* call = index ? newest([&](const Call& c) { return c.index == index; }) : (calls_.empty() ? nullptr : &calls_.back());
  if (!id.empty()) {
    const auto same_id = [&](const Call& c) { return c.id == id && (!index || !c.index || c.index == index); };
    if (Call* known = newest(same_id)) return known;
    // A new id under a known index is a new call, unless that call still waits for its id.
    if (call != nullptr && (!call->id.empty() || begins_another(*call, name, arguments))) return nullptr;
    return call;
  }
  if (call != nullptr && begins_another(*call, name, arguments)) return nullptr;
  return call;
}

}  // namespace forge::models
