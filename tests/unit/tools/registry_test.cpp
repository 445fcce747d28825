#include "tools/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/tool_call.h"

namespace forge::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names(const std::vector<const ToolSpec*>& specs) {
  std::vector<std::string> found;
  found.reserve(specs.size());
  for (const ToolSpec* spec : specs) found.push_back(spec->name);
  return found;
}

/// Throws what it is told to.
class Faulty final : public Tool {
 public:
  Faulty(std::string name, ErrorCode code, std::string schema = "{}")
      : spec_{std::move(name), "", std::move(schema), Access::acts, {Caller::chat}}, code_(code) {}
  const ToolSpec& spec() const override { return spec_; }
  ToolOutcome call(const nlohmann::json&, const ToolContext&) const override { throw Error(code_, "it broke"); }

 private:
  ToolSpec spec_;
  ErrorCode code_;
};

std::vector<std::unique_ptr<Tool>> one(std::unique_ptr<Tool> tool) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::move(tool));
  return tools;
}

ToolOutcome call_chat(const Registry& registry, const std::string& name, const std::string& arguments) {
  const Stop stop;
  return registry.call(Caller::chat, name, arguments, {nullptr, stop, {}});
}

TEST(Registry, OffersToolsInOrderAndByCaller) {
  const Registry registry(workspace_tools({Caller::agent}));
  EXPECT_THAT(names(registry.specs(Caller::agent)), ElementsAre("bash", "read_file", "write_file", "edit_file"));
  EXPECT_THAT(names(registry.specs(Caller::agent, Access::reads)), ElementsAre("read_file"));
  EXPECT_THAT(names(registry.specs(Caller::mcp)), IsEmpty());
}

TEST(Registry, AnswersAnUnknownToolWithTheNearestOne) {
  Bench bench;
  const ToolOutcome outcome = bench.call("readfile", nlohmann::json::object());
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.text,
              AllOf(HasSubstr("did you mean 'read_file'?"), HasSubstr("The tools are: bash, read_file, write_file, edit_file.")));
}

TEST(Registry, DoesNotRunToolsOfAnotherCaller) {
  const Registry registry(workspace_tools({Caller::agent}));
  EXPECT_THAT(call_chat(registry, "bash", R"({"command": "true"})").text, HasSubstr("There is no tool 'bash'"));
}

TEST(Registry, NeverRunsArgumentsThatAreNotStrictJson) {
  Bench bench;
  const Stop stop;
  const ToolContext context{&bench.sandbox, stop, {}};
  for (const char* bad : {R"({"command": "touch ran)", R"({"command": "touch ran"} x)", R"({"command": "touch ran", })",
                          R"({command: "touch ran"})", R"({"command": "true", "command": "touch ran"})", R"("touch ran")"}) {
    const ToolOutcome outcome = bench.registry.call(Caller::agent, "bash", bad, context);
    EXPECT_FALSE(outcome.ok) << bad;
    EXPECT_THAT(outcome.text, HasSubstr("Nothing was run")) << bad;
  }
  EXPECT_THAT(bench.sandbox.commands(), IsEmpty());
}

TEST(Registry, AnswersWrongArgumentsWithAllThatIsWrong) {
  Bench bench;
  EXPECT_EQ(bench.call("bash", {{"cmd", "x"}, {"timeout_s", "5"}}).text,
            "Nothing was run, the arguments of bash are wrong:\n- timeout_s: expected integer, found string\n- cmd: unknown field, known "
            "are: command, "
            "timeout_s\n- command: is missing");
}

TEST(Registry, TakesEmptyArgumentsAsAnEmptyObject) {
  Bench bench;
  const Stop stop;
  EXPECT_THAT(bench.registry.call(Caller::agent, "bash", "", {&bench.sandbox, stop, {}}).text, HasSubstr("command: is missing"));
}

TEST(Registry, TurnsAFailureInsideAToolIntoAnOutcome) {
  const Registry registry(one(std::make_unique<Faulty>("f", ErrorCode::conflict)));
  const ToolOutcome outcome = call_chat(registry, "f", "{}");
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.text, "f failed: it broke");
}

TEST(Registry, LetsPassWhatEndsARun) {
  for (const ErrorCode code : {ErrorCode::cancelled, ErrorCode::timed_out, ErrorCode::unavailable}) {
    const Registry registry(one(std::make_unique<Faulty>("f", code)));
    try {
      call_chat(registry, "f", "{}");
      ADD_FAILURE() << name_of(code);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code);
    }
  }
}

TEST(Registry, RefusesTwoToolsOfOneNameAndABadSchema) {
  std::vector<std::unique_ptr<Tool>> twins = one(std::make_unique<Faulty>("f", ErrorCode::conflict));
  twins.push_back(std::make_unique<Faulty>("f", ErrorCode::conflict));
  EXPECT_THROW(Registry{std::move(twins)}, Error);
  EXPECT_THROW(Registry{one(std::make_unique<Faulty>("f", ErrorCode::conflict, "["))}, Error);
}

}  // namespace
}  // namespace forge::tools
