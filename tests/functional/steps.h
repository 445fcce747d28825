#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace forge::functional {

// Parts of a model script (docs/scripted-models.md).

inline nlohmann::json call(const std::string& name, const nlohmann::json& input) { return {{"name", name}, {"input", input}}; }
inline nlohmann::json shell(const std::string& command) { return call("bash", {{"command", command}}); }
inline nlohmann::json does(const std::string& text, const std::vector<nlohmann::json>& tools) { return {{"text", text}, {"tools", tools}}; }
inline nlohmann::json says(const std::string& text) { return {{"text", text}}; }

/// Shell text that becomes a sleeping process called `name`. The text itself does not hold the whole name: whoever waits for the process
/// must not find the shell that is about to become it.
inline std::string sleeping_as(const std::string& name) { return "exec -a " + name.substr(0, 3) + "''" + name.substr(3) + " sleep 1000"; }

/// A script whose agent runs one shell command and is done.
inline nlohmann::json runs(const std::string& command) {
  return nlohmann::json::array({does("I do it.", {shell(command)}), says("Done it")});
}

}  // namespace forge::functional
