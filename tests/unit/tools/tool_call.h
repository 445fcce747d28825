#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/dummy_sandbox.h"
#include "tools/registry.h"

namespace forge::tools {

/// The workspace tools over a dummy sandbox.
struct Bench {
  test::DummySandbox sandbox;
  Registry registry{workspace_tools({Caller::agent})};

  ToolOutcome call(const std::string& name, const nlohmann::json& arguments, const Stop& stop = Stop()) {
    return registry.call(Caller::agent, name, arguments.dump(), {.sandbox = &sandbox, .stop = stop, .alive = {}});
  }
  void put(const std::string& path, const std::string& content) { sandbox.write_file(path, content, Stop()); }
  std::string get(const std::string& path) { return sandbox.read_file(path, 64 << 20, Stop()); }
};

/// "1\n2\n...\n"
inline std::string numbered_lines(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += std::to_string(i) + "\n";
  return text;
}

}  // namespace forge::tools
