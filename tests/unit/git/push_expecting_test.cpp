#include "orchestrator/git/push_target.h"
#include "tests/support/git_http_server.h"
#include "tests/unit/git/review_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kBranch = "forge/a-1-accepted";
constexpr const char* kBranchRef = "refs/heads/forge/a-1-accepted";

TEST(PushTargets, SayWhatIsToBeDone) {
  const PushTarget a_new_one{.branch = "b", .expected_old = ""};
  EXPECT_EQ(next_step(a_new_one, "", "new", "there"), PushStep::create);
  EXPECT_EQ(next_step(a_new_one, "new", "new", "there"), PushStep::done);
  EXPECT_EQ(test::error_of([&] { next_step(a_new_one, "other", "new", "there"); })->client_text(), "the branch 'b' exists already there");
  const PushTarget known{.branch = "b", .expected_old = "old"};
  EXPECT_EQ(next_step(known, "old", "new", "there"), PushStep::replace);
  EXPECT_EQ(next_step(known, "new", "new", "there"), PushStep::done);
  EXPECT_EQ(test::error_of([&] { next_step(known, "other", "new", "there"); })->client_text(),
            "the branch 'b' was moved by somebody else there");
  EXPECT_EQ(test::error_of([&] { next_step(known, "", "new", "there"); })->client_text(), "the branch 'b' is no longer there");
  const PushTarget of_a_run{.branch = "b", .expected_old = {}};
  EXPECT_EQ(next_step(of_a_run, "", "new", "there"), PushStep::create);
  EXPECT_EQ(test::code_of([&] { next_step(of_a_run, "new", "new", "there"); }), "conflict");
}

/// A repository behind one kind of address, with what somebody accepted first and accepted then: neither commit comes from the other.
class PushExpecting : public ReviewTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    repo_.write("f", lines(40));
    be_base();
    repo_.write("f", lines(40, {{5, "five"}, {20, "twenty"}}));
    head_ = repo_.commit("head");
    if (GetParam() == "http") {
      if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
      server_.emplace();
      served_ = server_->make_repository("a.git");
      url_ = server_->url("a.git");
    } else {
      served_ = bare_.path();
      url_ = (GetParam() == "file" ? "file://" : "") + bare_.str();
    }
    repo_.git({"push", "--quiet", served_.string(), "main"});
    cache().fetch(url_, "", soon());
    const std::vector<std::string> ids = all_ids(cache().compare(url_, base_, head_, soon()));
    first_ = accepted(ids.at(0));
    second_ = accepted(ids.at(1));
  }
  std::string accepted(const std::string& hunk) {
    Acceptance one = acceptance({hunk});
    one.repository = url_;
    return cache().accept(one, soon()).commit;
  }
  void push(const std::string& commit, const std::string& expected_old) {
    cache().push_expecting(url_, commit, kBranch, expected_old, soon());
  }
  std::optional<Error> refusal_of(const std::string& commit, const std::string& expected_old) {
    return test::error_of([&] { push(commit, expected_old); });
  }
  std::string there() { return test::run_git(served_, {"for-each-ref", "--format=%(objectname)", kBranchRef}); }

  test::BareRepo bare_;
  std::optional<test::GitHttpServer> server_;
  std::filesystem::path served_;
  std::string url_;
  std::string first_;
  std::string second_;
};

TEST_P(PushExpecting, MakesANewBranchAndReplacesWhatItKnows) {
  push(first_, "");
  EXPECT_EQ(there(), first_);
  push(second_, first_);
  EXPECT_EQ(there(), second_);
  EXPECT_EQ(test::run_git(served_, {"fsck", "--full", "--no-dangling", "--no-progress", "--no-reflogs"}), "");
}

TEST_P(PushExpecting, IsDoneWhenTheCommitIsThereAlready) {
  push(first_, "");
  push(first_, "");
  push(second_, first_);
  push(second_, first_);
  EXPECT_EQ(there(), second_);
}

TEST_P(PushExpecting, RefusesABranchThatIsNotAsExpected) {
  push(first_, "");
  const auto exists = refusal_of(second_, "");
  EXPECT_EQ(exists->code(), ErrorCode::conflict);
  EXPECT_THAT(exists->client_text(), AllOf(HasSubstr(kBranch), HasSubstr("exists already")));
  const auto moved = refusal_of(second_, base_);
  EXPECT_EQ(moved->code(), ErrorCode::conflict);
  EXPECT_THAT(moved->client_text(), AllOf(HasSubstr(kBranch), HasSubstr("was moved by somebody else")));
  EXPECT_EQ(there(), first_);
  test::run_git(served_, {"update-ref", "-d", kBranchRef});
  EXPECT_THAT(refusal_of(second_, first_)->client_text(), AllOf(HasSubstr(kBranch), HasSubstr("no longer")));
  EXPECT_EQ(there(), "");
}

TEST_P(PushExpecting, NeedsACommitThatIsKept) {
  const auto error = refusal_of(std::string(40, '1'), "");
  EXPECT_EQ(error->code(), ErrorCode::not_found);
  EXPECT_EQ(error->client_text(), "the run's result is no longer kept here");
}

INSTANTIATE_TEST_SUITE_P(Over, PushExpecting, testing::Values("path", "file", "http"), [](const auto& row) { return row.param; });

class PushExpectingOverHttp : public PushExpecting {};

TEST_P(PushExpectingOverHttp, SeesThatTheBranchMovedWhileItPushed) {
  push(first_, "");
  // The hook runs after the server told us where the branch is, and before it takes the push.
  server_->set_pre_receive_hook("a.git", "env -u GIT_QUARANTINE_PATH git update-ref " + std::string(kBranchRef) + " " + base_ + "\n");
  const auto error = refusal_of(second_, first_);
  EXPECT_EQ(error->code(), ErrorCode::conflict) << error->what();
  EXPECT_THAT(error->client_text(), AllOf(HasSubstr(kBranch), HasSubstr("while it was pushed to")));
  EXPECT_EQ(there(), base_);
}

INSTANTIATE_TEST_SUITE_P(Over, PushExpectingOverHttp, testing::Values("http"), [](const auto& row) { return row.param; });

class PushExpectingIntoAWorkTree : public ReviewTest {};

TEST_F(PushExpectingIntoAWorkTree, DoesNotMoveABranchThatIsCheckedOut) {
  change("f", lines(40), lines(40, {{5, "five"}, {20, "twenty"}}));
  const std::string first = accept({id("f", 0)}).commit;
  const std::string second = accept({id("f", 1)}).commit;
  cache().push_expecting(repo_.str(), first, kBranch, "", soon());
  repo_.git({"checkout", "--quiet", kBranch});
  const auto error = test::error_of([&] { cache().push_expecting(repo_.str(), second, kBranch, first, soon()); });
  EXPECT_EQ(error->code(), ErrorCode::conflict);
  EXPECT_THAT(error->client_text(), HasSubstr("is checked out in"));
  repo_.git({"checkout", "--quiet", "main"});
  cache().push_expecting(repo_.str(), second, kBranch, first, soon());
  EXPECT_EQ(repo_.git({"rev-parse", kBranch}), second);
}

}  // namespace
}  // namespace forge::git
