#include <gmock/gmock.h>

#include "orchestrator/cli/verbs.h"
#include "tests/unit/cli/fixture.h"

namespace forge::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// docs/operations.md is held to the code: what a program may rely on stands there.
class OperationsPage : public CliTest {
 protected:
  const std::string page = test::read_file("docs/operations.md");
  void expect_fields(const json& object) {
    for (const auto& [field, value] : object.items()) EXPECT_THAT(page, HasSubstr("`" + field + "`"));
  }
};

TEST_F(OperationsPage, NamesEveryVerb) {
  for (const Verb& verb : all_verbs()) {
    EXPECT_THAT(page, HasSubstr("| `" + verb.name + "` | "));
    for (const Verb& inner : verb.verbs) EXPECT_THAT(page, HasSubstr("`" + inner.name + "`")) << verb.name;
  }
}

TEST_F(OperationsPage, NamesEveryFieldOfTheReportOfARun) { expect_fields(run_report(sample_job(), *sample_job().last_run)); }

TEST_F(OperationsPage, NamesEveryFieldOfTheReportOfASandbox) {
  ASSERT_EQ(run({"sandbox", "run", "--json", "--", "true"}), 0);
  expect_fields(json::parse(out));
}

TEST_F(OperationsPage, NamesEveryFieldOfDoctor) {
  ASSERT_EQ(run({"doctor", "--json"}), 0);
  const json report = json::parse(out);
  for (const auto& [field, value] : report.items()) EXPECT_THAT(page, HasSubstr(field));
  for (const auto& [field, value] : report.at("drivers").at(0).at("rows").at(0).items()) EXPECT_THAT(page, HasSubstr(field));
}

}  // namespace
}  // namespace forge::cli
