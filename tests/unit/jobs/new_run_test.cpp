#include "orchestrator/jobs/new_run.h"

#include <gmock/gmock.h>

#include <utility>

#include "tests/support/errors.h"
#include "tests/unit/jobs/jobs_fixture.h"

namespace forge::test {
namespace {

using adapters::AgentResult;
using adapters::RunContext;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FollowUpTest : public Jobs {
 protected:
  /// Each run plays the next of these; what it was told first is kept.
  void play(std::vector<std::function<void(sandbox::Sandbox&, const Stop&)>> runs) {
    start([this, runs = std::move(runs)](const RunContext& context, const std::string& prompt, const Stop& stop) -> AgentResult {
      prompts_.push_back(prompt);
      resumed_.push_back(context.resume ? context.resume->id + ": " + context.resume->data : "");
      runs.at(prompts_.size() - 1)(context.sandbox, stop);
      return {.reason = Reason::completed, .summary = "account " + std::to_string(prompts_.size()), .error = {}};
    });
  }

  forge::Run next(const Job& job, const NewRun& wanted) {
    const forge::Run run = service_->new_run(me_, job.id.str(), wanted);
    EXPECT_TRUE(wait_for_ends(run.number));
    return service_->run(job.id.str(), run.number);
  }

  static auto writing(std::string path, std::string content) {
    return [path = std::move(path), content = std::move(content)](sandbox::Sandbox& sandbox, const Stop& stop) {
      sandbox.write_file(path, content, stop);
    };
  }

  std::vector<std::string> prompts_;
  std::vector<std::string> resumed_;
};

TEST_F(FollowUpTest, GoesOnFromTheResultAndShowsTheWholeChange) {
  play({writing("a.txt", "a\n"), [](sandbox::Sandbox& sandbox, const Stop& stop) {
          EXPECT_EQ(sandbox.read_file("a.txt", 100, stop), "a\n");
          sandbox.write_file("b.txt", "b\n", stop);
        }});
  adapter_->saved = adapters::SavedSession{"s-1", "all that was said"};
  const Job job = run_to_end(spec("Add files"));
  const forge::Run second = next(job, {.kind = RunKind::follow_up, .note = "Also b, please."});
  EXPECT_EQ(second.state, JobState::succeeded) << second.error;
  EXPECT_EQ(second.kind, RunKind::follow_up);
  EXPECT_EQ(second.from_run, 1);
  EXPECT_EQ(second.base_commit, job.last_run->base_commit);
  EXPECT_EQ(second.base_ref, job.last_run->base_ref);
  EXPECT_THAT(service_->diff(job.id.str(), 2), AllOf(HasSubstr("+a\n"), HasSubstr("+b\n")));
  EXPECT_EQ(repo_.git({"rev-parse", second.branch + "^"}), second.base_commit);
  EXPECT_THAT(prompts_.at(1), AllOf(HasSubstr("Add files"), HasSubstr("account 1"), HasSubstr("Also b, please.")));
  EXPECT_EQ(resumed_.at(1), "s-1: all that was said");
}

TEST_F(FollowUpTest, AForkStartsFromTheRunItNamesWithAFreshAgent) {
  play({writing("a.txt", "a\n"), writing("b.txt", "b\n"), writing("c.txt", "c\n")});
  adapter_->saved = adapters::SavedSession{"s-1", "all that was said"};
  const Job job = run_to_end(spec());
  next(job, {.kind = RunKind::follow_up, .note = "b"});
  const forge::Run third = next(job, {.kind = RunKind::fork, .from_run = 1});
  EXPECT_THAT(service_->diff(job.id.str(), 3), AllOf(HasSubstr("+a\n"), Not(HasSubstr("+b\n")), HasSubstr("+c\n")));
  EXPECT_EQ(third.from_run, 1);
  EXPECT_EQ(resumed_.at(2), "");
  EXPECT_THAT(prompts_.at(2), HasSubstr("account 1"));
}

TEST_F(FollowUpTest, ARetryStartsFromTheBase) {
  play({writing("a.txt", "a\n"), writing("b.txt", "b\n")});
  const Job job = run_to_end(spec("Add files"));
  const forge::Run second = next(job, {.kind = RunKind::retry, .note = "Think again."});
  EXPECT_THAT(service_->diff(job.id.str(), 2), AllOf(Not(HasSubstr("+a\n")), HasSubstr("+b\n")));
  EXPECT_EQ(second.from_run, 0);
  EXPECT_EQ(prompts_.at(1), "Add files\n\nThink again.");
}

TEST_F(FollowUpTest, TakingEverythingBackLeavesNoChanges) {
  play({writing("a.txt", "a\n"), [](sandbox::Sandbox& sandbox, const Stop& stop) {
          sandbox.run({.argv = {"/bin/rm", "a.txt"}, .timeout = std::chrono::seconds(20)}, stop);
        }});
  const Job job = run_to_end(spec());
  const forge::Run second = next(job, {.kind = RunKind::follow_up, .note = "Take it back."});
  EXPECT_EQ(second.state, JobState::no_changes) << second.error;
  EXPECT_EQ(second.head_commit, "");
  EXPECT_EQ(second.review, ReviewStatus::none);
}

TEST_F(FollowUpTest, OneThatChangesNothingLeavesTheResultBefore) {
  play({writing("a.txt", "a\n"), [](sandbox::Sandbox&, const Stop&) {}, writing("b.txt", "b\n")});
  const Job job = run_to_end(spec());
  EXPECT_EQ(next(job, {.kind = RunKind::follow_up, .note = "x"}).state, JobState::no_changes);
  const forge::Run third = next(job, {.kind = RunKind::follow_up, .note = "x"});
  EXPECT_EQ(third.from_run, 1) << "the last run that left changes";
}

TEST_F(FollowUpTest, WhatDoesNotFitIsRefused) {
  play({[](sandbox::Sandbox&, const Stop&) {}});
  const Job job = run_to_end(spec());
  const auto refused = [&](const NewRun& wanted) { return error_of([&] { service_->new_run(me_, job.id.str(), wanted); })->client_text(); };
  EXPECT_EQ(refused({.kind = RunKind::follow_up, .note = "x"}), "no run of the job has left changes to go on from");
  EXPECT_EQ(refused({.kind = RunKind::fork, .from_run = 1}), "run 1 left no changes to go on from");
  EXPECT_THAT(refused({.kind = RunKind::fork, .from_run = 7}), HasSubstr("the job has no run 7"));
  EXPECT_THAT(refused({.kind = RunKind::follow_up, .note = " "}), HasSubstr("is empty"));
  EXPECT_THAT(refused({.kind = RunKind::retry, .from_run = 1}), HasSubstr("a retry starts from the job's base"));
}

TEST_F(FollowUpTest, ARunThatLeftChangesWaitsForReview) {
  play({writing("a.txt", "a\n")});
  EXPECT_EQ(run_to_end(spec()).last_run->review, ReviewStatus::waiting);
}

}  // namespace
}  // namespace forge::test
