#include "tests/contract/agent.h"

#include "adapters/claude_code/command_line.h"
#include "tests/support/paths.h"

namespace forge::contract {
namespace {

constexpr std::string_view kShell = "bash";

json call(std::string_view name, const json& input) { return {{"name", name}, {"input", input}}; }
std::string in_workspace(const std::string& path) { return "/workspace/" + path; }

json usage_of(std::size_t salt) { return {{"input", 101 + salt}, {"output", 17 + salt}, {"cache_read", 1009}, {"cache_write", 13}}; }

}  // namespace

std::string_view name_of(Agent agent) {
  switch (agent) {
    case Agent::pi: return "pi";
    case Agent::claude_code: return "claude-code";
    case Agent::dummy: return "dummy";
  }
  return "";
}

std::string claude_program() {
  return test::source_file("build/claude-code/adapters/claude-code/" + std::string(adapters::claude_code::kPinnedVersion) + "/claude");
}

json Tools::shell(const std::string& command) const { return call(agent_ == Agent::claude_code ? "Bash" : kShell, {{"command", command}}); }

json Tools::read(const std::string& path) const {
  if (agent_ == Agent::dummy) return shell("cat " + path);
  return agent_ == Agent::pi ? call("read_file", {{"path", path}}) : call("Read", {{"file_path", in_workspace(path)}});
}

json Tools::write(const std::string& path, const std::string& content) const {
  if (agent_ == Agent::claude_code) return call("Write", {{"file_path", in_workspace(path)}, {"content", content}});
  return call("write_file", {{"path", path}, {"content", content}});
}

json Tools::edit(const std::string& path, const std::string& old_text, const std::string& new_text) const {
  if (agent_ == Agent::dummy) return shell("sed -i 's/" + old_text + "/" + new_text + "/' " + path);
  if (agent_ == Agent::claude_code)
    return call("Edit", {{"file_path", in_workspace(path)}, {"old_string", old_text}, {"new_string", new_text}});
  return call("edit_file", {{"path", path}, {"edits", json::array({{{"old_text", old_text}, {"new_text", new_text}}})}});
}

json Tools::raw_shell(const std::string& arguments) const {
  return {{"name", agent_ == Agent::claude_code ? "Bash" : kShell}, {"raw_input", arguments}};
}

json does(const std::vector<json>& calls, const std::string& text) {
  return {{"text", text}, {"tools", calls}, {"usage", usage_of(calls.size())}};
}
json says(const std::string& text) { return {{"text", text}, {"usage", usage_of(text.size())}}; }

}  // namespace forge::contract
