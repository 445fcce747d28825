#include "tests/contract/scripted_agent.h"

#include <chrono>

#include "orchestrator/base/error.h"

namespace forge::contract {
namespace {

using adapters::AgentResult;
using nlohmann::json;

constexpr std::string_view kNoText = "garbage \377\376\001 \033[31m";

class ScriptedSession final : public adapters::AgentSession {
 public:
  ScriptedSession(const adapters::RunContext& context, const json& script) : context_(context), script_(script) {}

  AgentResult prompt(const std::string&, const Stop& stop) override {
    AgentResult result;
    for (const json& step : script_) {
      stop.check();
      if (turn_ >= context_.job.spec.limits.max_turns) return {Reason::max_turns, result.summary, "no turn is left"};
      context_.trace.append(trace::Turn{++turn_}, turn_);
      result.summary = step.value("text", "");
      context_.trace.append(trace::Text{{result.summary}}, turn_);
      for (const json& call : step.value("tools", json::array())) {
        if (call.at("name") == "throw") throw Error(ErrorCode::internal, "the adapter broke off");
        if (call.at("name") == "garbage") return say_garbage();
        run(call, stop);
      }
    }
    return result;
  }

 private:
  AgentResult say_garbage() {
    context_.trace.append(trace::Text{{std::string(kNoText)}}, turn_);
    return {Reason::protocol_error, std::string(kNoText), std::string(kNoText)};
  }

  void run(const json& call, const Stop& stop) {
    const std::string id = "call-" + std::to_string(++calls_);
    const std::string name = call.at("name");
    context_.trace.append(trace::ToolCall{id, name, {call.at("input").dump()}}, turn_);
    trace::ToolResult result;
    result.id = id;
    result.name = name;
    try {
      if (name == "write_file") {
        context_.sandbox.write_file(call.at("input").at("path"), call.at("input").at("content").get<std::string>(), stop);
      } else {
        shell(call.at("input").at("command"), result, stop);
      }
    } catch (const Error&) {
      result.ok = false;
      context_.trace.append(std::move(result), turn_);
      throw;
    }
    context_.trace.append(std::move(result), turn_);
  }

  void shell(const std::string& command, trace::ToolResult& result, const Stop& stop) {
    sandbox::CommandSpec spec;
    spec.argv = {"bash", "-c", command};
    spec.timeout = std::chrono::seconds(120);
    spec.merge_output = true;
    spec.max_output_bytes = 50 << 10;
    spec.on_output = [this](std::string_view, bool) { context_.trace.alive(); };
    const auto ended = context_.sandbox.run(spec, stop);
    result.ok = ended.exit.ok();
    result.exit_code = ended.exit.code;
    result.truncated = ended.out.truncated();
    result.bytes = ended.out.bytes;
    result.output = {ended.out.text()};
  }

  const adapters::RunContext& context_;
  const json& script_;
  int turn_ = 0;
  int calls_ = 0;
};

}  // namespace

std::unique_ptr<adapters::AgentSession> ScriptedAgent::start(const adapters::RunContext& context) {
  return std::make_unique<ScriptedSession>(context, script_);
}

}  // namespace forge::contract
