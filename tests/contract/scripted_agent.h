#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "adapters/adapter.h"

namespace forge::contract {

/// The adapter `dummy`: plays a script itself, asks no model and has no process of its own. Beside "bash" and "write_file" it knows two
/// tools that stand for an adapter that is broken: "throw" breaks off, "garbage" is its last word.
class ScriptedAgent final : public adapters::AgentAdapter {
 public:
  explicit ScriptedAgent(nlohmann::json script) : script_(std::move(script)) {}
  std::string_view name() const override { return "dummy"; }
  void check(const JobSpec&) const override {}
  std::unique_ptr<adapters::AgentSession> start(const adapters::RunContext& context) override;

 private:
  const nlohmann::json script_;
};

}  // namespace forge::contract
