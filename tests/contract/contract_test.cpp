// The adapter contract: every row for every agent, and the table of what came of it. One row: ctest --test-dir build -R Cancel_pi
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <tuple>

#include "tests/contract/row.h"

namespace forge::contract {

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto& part : {work_rows(), limit_rows(), api_rows(), conduct_rows()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

namespace {

using Case = std::tuple<Row, Agent>;

std::string case_name(const Row& row, Agent agent) {
  std::string name = fmt::format("{}_{}", row.name, name_of(agent));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// What came of each row, as far as this process has run it: "ok", "FAILED", "skipped", "n/a".
class Table : public testing::Environment {
 public:
  void note(const Row& row, Agent agent, const std::string& result) { results_[row.name][agent] = result; }

  void TearDown() override {
    if (results_.size() < 2) return;  // a test that ctest runs alone has its own line there
    std::string text = fmt::format("\n{:<22}", "");
    for (const Agent agent : kAgents) text += fmt::format("{:<14}", name_of(agent));
    std::string reasons;
    for (const Row& row : all_rows()) {
      text += fmt::format("\n{:<22}", row.name);
      for (const Agent agent : kAgents) text += fmt::format("{:<14}", results_[row.name][agent]);
      for (const auto& [agent, why] : row.not_applicable) reasons += fmt::format("  {}, {}: {}\n", row.name, name_of(agent), why);
    }
    std::printf("%s\n\nnot applicable:\n%s", text.c_str(), reasons.c_str());
  }

 private:
  std::map<std::string, std::map<Agent, std::string>> results_;
};

Table& table() {
  static Table& kept = *static_cast<Table*>(testing::AddGlobalTestEnvironment(new Table));
  return kept;
}

class Contract : public testing::TestWithParam<Case> {};

TEST_P(Contract, IsHeld) {
  const auto& [row, agent] = GetParam();
  if (const auto why = row.not_applicable.find(agent); why != row.not_applicable.end()) {
    table().note(row, agent, "n/a");
    RecordProperty("not_applicable", why->second);
    std::printf("n/a: %s\n", why->second.c_str());
    return;
  }
  if (agent == Agent::claude_code && !std::filesystem::exists(claude_program())) {
    table().note(row, agent, "skipped");
    GTEST_SKIP() << "claude-code is not installed: ./dev test installs it by npm";
  }
  row.hold(agent);
  table().note(row, agent, HasFailure() ? "FAILED" : "ok");
}

INSTANTIATE_TEST_SUITE_P(Of, Contract, testing::Combine(testing::ValuesIn(all_rows()), testing::ValuesIn(kAgents)),
                         [](const auto& of) { return case_name(std::get<0>(of.param), std::get<1>(of.param)); });

/// Names of all tests of this program.
std::set<std::string> test_names() {
  std::set<std::string> names;
  const auto& unit = *testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i)
    for (int j = 0; j < unit.GetTestSuite(i)->total_test_count(); ++j) names.insert(unit.GetTestSuite(i)->GetTestInfo(j)->name());
  return names;
}

TEST(TheTable, HasEachRowForEachAgentOrSaysWhyNot) {
  const std::set<std::string> wanted{
      "EditsLand",       "NothingDone",    "CallsInOrder",   "MalformedCalls", "HugeOutput",      "OutputThatIsNoText",
      "Cancel",          "TimeOut",        "Budget",         "MaxTurns",       "Api401",          "Api429WithRetryAfter",
      "Api529",          "Api529ForEver",  "ApiStreamCut",   "ApiHang",        "CommitsByItself", "ChangesBranch",
      "LeavesProcesses", "WritesOutside",  "EmptiesTheTree", "LooksForTheKey", "KillsEverything", "ExitsEarly",
      "PrintsGarbage",   "EndsWithGarbage"};
  std::set<std::string> found;
  const std::set<std::string> tests = test_names();
  for (const Row& row : all_rows()) {
    EXPECT_TRUE(found.insert(row.name).second) << row.name << " stands twice";
    EXPECT_LT(row.not_applicable.size(), kAgents.size()) << row.name << " is held by nobody";
    for (const Agent agent : kAgents) EXPECT_EQ(tests.count("IsHeld/" + case_name(row, agent)), 1u) << case_name(row, agent);
    for (const auto& [agent, why] : row.not_applicable) EXPECT_GT(why.size(), 20u) << row.name << ": " << why;
  }
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace forge::contract
