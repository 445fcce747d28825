#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace forge::models {

/// Puts together the tool calls of a streamed chat completion. The books say that a fragment carries an index, and the first one id and
/// name. Servers in the wild omit the index, send 0 for all parallel calls, repeat id or name in each fragment, send whole calls, or "null"
/// for ids.
class ToolCallFragments {
 public:
  struct Call {
    std::optional<std::int64_t> index;
    std::string id;  // "" until one was told
    std::string name;
    std::string arguments;
  };

  /// Takes `tool_calls` of one delta; anything but an array is passed over.
  void take(const nlohmann::json& tool_calls);
  const std::vector<Call>& calls() const { return calls_; }

 private:
  void take_one(const nlohmann::json& fragment);
  Call* owner_of(const std::optional<std::int64_t>& index, const std::string& id, const std::string& name, const std::string& arguments);

  std::vector<Call> calls_;  // in order of appearance
};

}  // namespace forge::models
