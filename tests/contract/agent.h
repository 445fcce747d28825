#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

namespace forge::contract {

using nlohmann::json;

/// Whom the contract is held against: Forge's own loop, the real program in its sandbox, and a dummy that plays the script without asking
/// a model (scripted_agent.h).
enum class Agent { pi, claude_code, dummy };
inline constexpr std::array<Agent, 3> kAgents{Agent::pi, Agent::claude_code, Agent::dummy};
/// As jobs name the adapter.
std::string_view name_of(Agent agent);
inline void PrintTo(Agent agent, std::ostream* out) { *out << name_of(agent); }
/// True when its answers come from the scripted model server.
constexpr bool asks_a_model(Agent agent) { return agent != Agent::dummy; }
/// True when it is a process that tells by its output what it does.
constexpr bool is_program(Agent agent) { return agent == Agent::claude_code; }

/// Where `./dev test` has put the program of claude-code.
std::string claude_program();

/// Tool calls in the words of one agent, for steps of a script (docs/scripted-models.md).
class Tools {
 public:
  explicit Tools(Agent agent) : agent_(agent) {}
  json shell(const std::string& command) const;
  json read(const std::string& path) const;
  json write(const std::string& path, const std::string& content) const;
  /// Of a file that was read before.
  json edit(const std::string& path, const std::string& old_text, const std::string& new_text) const;
  /// A shell call whose arguments are this text, whatever it is.
  json raw_shell(const std::string& arguments) const;

 private:
  const Agent agent_;
};

/// A step that says and does something. Every step made here has usage, so that no count is 0 by accident.
json does(const std::vector<json>& calls, const std::string& text = "I do it.");
json says(const std::string& text);

}  // namespace forge::contract
