#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

template <typename Backend>
class StoredJobs : public StoreTest<Backend> {
 protected:
  std::vector<std::string> tasks(const JobPage& page) {
    std::vector<std::string> tasks;
    for (const Job& job : page.items) tasks.push_back(job.spec.task);
    return tasks;
  }
};
TYPED_TEST_SUITE(StoredJobs, Backends);

JobSpec full_spec() {
  JobSpec spec;
  spec.repository = "https://example.com/r.git";
  spec.base = "v1";
  spec.task = "line one\nline two \xc3\xa9";
  spec.title = "title";
  spec.adapter = "claude-code";
  spec.model = "anthropic/m";
  spec.template_name = "code-interpreter-v1";
  spec.driver = "docker";
  spec.setup = {"npm ci"};
  spec.verify = {"npm test", "npm run lint"};
  spec.limits = {.max_turns = 1, .time_limit_s = 2, .stall_limit_s = 3, .max_tokens = 4, .verify_rounds = 5};
  spec.budget_nano_usd = 6;
  spec.network.allow_hosts = {"*.example.com"};
  spec.push = false;
  return spec;
}

TYPED_TEST(StoredJobs, KeepEveryFieldOfTheSpec) {
  const JobSpec spec = full_spec();
  const Job made = this->store().insert_job(spec, "anna", false);
  this->reopen();
  const Job job = this->store().job(made.id.str());
  EXPECT_EQ(job.spec.repository, spec.repository);
  EXPECT_EQ(job.spec.base, spec.base);
  EXPECT_EQ(job.spec.task, spec.task);
  EXPECT_EQ(job.spec.title, spec.title);
  EXPECT_EQ(job.spec.adapter, spec.adapter);
  EXPECT_EQ(job.spec.model, spec.model);
  EXPECT_EQ(job.spec.template_name, spec.template_name);
  EXPECT_EQ(job.spec.driver, spec.driver);
  EXPECT_EQ(job.spec.setup, spec.setup);
  EXPECT_EQ(job.spec.verify, spec.verify);
  EXPECT_EQ(job.spec.limits.max_turns, 1);
  EXPECT_EQ(job.spec.limits.time_limit_s, 2);
  EXPECT_EQ(job.spec.limits.stall_limit_s, 3);
  EXPECT_EQ(job.spec.limits.max_tokens, 4);
  EXPECT_EQ(job.spec.limits.verify_rounds, 5);
  EXPECT_EQ(job.spec.budget_nano_usd, 6);
  EXPECT_EQ(job.spec.network.allow_hosts, spec.network.allow_hosts);
  EXPECT_FALSE(job.spec.push);
  EXPECT_EQ(job.created_by, "anna");
  EXPECT_EQ(job.created_ms, this->clock_.now_ms());
}

TYPED_TEST(StoredJobs, WaitAsCreatedUntilQueued) {
  const Job job = this->store().insert_job(this->spec(), "anna", false);
  EXPECT_EQ(job.state, JobState::created);
  EXPECT_FALSE(job.last_run);
  EXPECT_FALSE(this->store().claim_run(1));
  const Run run = this->store().insert_run(job.id, {});
  EXPECT_EQ(run.number, 1);
  EXPECT_EQ(this->store().job(job.id.str()).state, JobState::queued);
}

TYPED_TEST(StoredJobs, QueuedAtOnceHaveARunAndItsFirstEvent) {
  const Job job = this->queued();
  ASSERT_TRUE(job.last_run);
  EXPECT_EQ(job.state, JobState::queued);
  EXPECT_EQ(job.last_run->state, JobState::queued);
  const auto events = this->all_events(job.last_run->id);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].data_json, R"({"from":"created","note":"","reason":null,"to":"queued"})");
}

TYPED_TEST(StoredJobs, AreFoundByAUniquePrefixInAnyCase) {
  // Later than any other test of this process: ids only grow. Days apart, so that the ids differ in their first characters.
  this->clock_.set(4'000'000'000'000);
  const Job first = this->queued();
  this->clock_.advance_ms(40LL * 24 * 3600 * 1000);
  const Job second = this->queued();
  const std::string prefix = second.id.str().substr(0, 8);
  EXPECT_EQ(this->store().job(prefix).id, second.id);
  std::string upper = prefix;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(this->store().job(upper).id, second.id);
  EXPECT_EQ(this->store().job(first.id.str()).id, first.id);
}

TYPED_TEST(StoredJobs, SayWhyAnIdNamesNothing) {
  const Job job = this->queued();
  this->queued();  // in the same millisecond: the ids share their first ten characters
  const std::string shared = job.id.str().substr(0, 8);
  EXPECT_EQ(error_of([&] { this->store().job(shared); }), "conflict: '" + shared + "' is the beginning of several job ids");
  EXPECT_EQ(error_of([&] { this->store().job("zzzzzz"); }), "not_found: no job 'zzzzzz'");
  EXPECT_EQ(error_of([&] { this->store().job("abc"); }), "not_found: no job 'abc'");
  EXPECT_EQ(error_of([&] { this->store().job(""); }), "not_found: no job ''");
  EXPECT_EQ(error_of([&] { this->store().job("%%%%%%"); }), "not_found: no job '%%%%%%'");
}

TYPED_TEST(StoredJobs, ArePagedNewestFirst) {
  for (const char* task : {"one", "two", "three", "four", "five"}) this->queued(task);
  JobFilter filter;
  filter.limit = 2;
  JobPage page = this->store().jobs(filter);
  EXPECT_THAT(this->tasks(page), ElementsAre("five", "four"));
  this->queued("six");  // does not disturb the walk
  filter.cursor = page.next_cursor;
  page = this->store().jobs(filter);
  EXPECT_THAT(this->tasks(page), ElementsAre("three", "two"));
  filter.cursor = page.next_cursor;
  page = this->store().jobs(filter);
  EXPECT_THAT(this->tasks(page), ElementsAre("one"));
  EXPECT_EQ(page.next_cursor, "");
  EXPECT_TRUE(page.items[0].last_run);
}

TYPED_TEST(StoredJobs, AreFilteredByStateAndRepository) {
  JobSpec other = this->spec("other");
  other.repository = "/srv/other";
  this->store().insert_job(other, "anna", true);
  this->store().insert_job(other, "anna", false);
  this->queued("mine");
  EXPECT_THAT(this->tasks(this->store().jobs({.state = {}, .repository = "/srv/other"})), ElementsAre("other", "other"));
  EXPECT_THAT(this->tasks(this->store().jobs({.state = JobState::queued})), ElementsAre("mine", "other"));
  EXPECT_THAT(this->tasks(this->store().jobs({.state = JobState::queued, .repository = "/srv/other"})), ElementsAre("other"));
  EXPECT_THAT(this->tasks(this->store().jobs({.state = JobState::failed})), ElementsAre());
}

TYPED_TEST(StoredJobs, AreFilteredByTheReviewOfTheirLastRun) {
  const auto end = [&](const std::string& task, const std::string& head_commit) {
    Job job = this->queued(task);
    EXPECT_TRUE(this->store().end_run(this->store().claim_run(1).value(), {.reason = Reason::completed, .head_commit = head_commit}));
    return job;
  };
  end("empty", "");
  end("one", "c1");
  const Job tried_again = end("two", "c1");
  const Job dismissed = end("three", "c1");
  end("four", "c1");
  end("five", "c1");
  this->store().insert_run(tried_again.id, {});  // its first run still waits, and counts no more
  this->store().open_review(dismissed.last_run->id, {});
  this->store().dismiss_review(dismissed.last_run->id, 1);
  this->store().insert_job(this->spec("created"), "anna", false);
  EXPECT_THAT(this->tasks(this->store().jobs({.review = ReviewStatus::dismissed})), ElementsAre("three"));
  EXPECT_THAT(this->tasks(this->store().jobs({.review = ReviewStatus::none})), ElementsAre("two", "empty"));
  EXPECT_THAT(this->tasks(this->store().jobs({.review = ReviewStatus::waiting})), ElementsAre("five", "four", "one"));
  EXPECT_THAT(this->tasks(this->store().jobs({.review = ReviewStatus::applied})), ElementsAre());
}

TYPED_TEST(StoredJobs, ThatWaitForReviewAreFilteredAndPagedAsAllAre) {
  JobSpec other = this->spec("other");
  other.repository = "/srv/other";
  for (const auto& spec : {this->spec("one"), other, this->spec("two"), this->spec("three")}) {
    this->store().insert_job(spec, "anna", true);
    this->store().end_run(this->store().claim_run(1).value(),
                          {.reason = spec.task == "two" ? Reason::stuck : Reason::completed, .head_commit = "c1"});
  }
  JobFilter filter{.review = ReviewStatus::waiting, .limit = 2};
  JobPage page = this->store().jobs(filter);
  EXPECT_THAT(this->tasks(page), ElementsAre("three", "two"));
  EXPECT_EQ(page.items.at(0).last_run->review, ReviewStatus::waiting);
  filter.cursor = page.next_cursor;
  page = this->store().jobs(filter);
  EXPECT_THAT(this->tasks(page), ElementsAre("other", "one"));
  EXPECT_EQ(page.next_cursor, "");
  EXPECT_THAT(this->tasks(this->store().jobs({.review = ReviewStatus::waiting, .repository = "/srv/other"})), ElementsAre("other"));
  EXPECT_THAT(this->tasks(this->store().jobs({.state = JobState::failed, .review = ReviewStatus::waiting})), ElementsAre("two"));
}

TYPED_TEST(StoredJobs, RefuseACursorThatNoPageGave) {
  for (const char* cursor : {"x", "j.", "j.abc", "01jgfq2k00000000000000000a", "j.01JGFQ2K00000000000000000A", "j.' OR 1=1 --------------"})
    EXPECT_THAT(error_of([&] { this->store().jobs({.state = {}, .repository = {}, .cursor = cursor}); }), StartsWith("invalid_argument: "))
        << cursor;
  for (const int limit : {0, -1, 201})
    EXPECT_THAT(error_of([&] { this->store().jobs({.state = {}, .repository = {}, .cursor = {}, .limit = limit}); }),
                HasSubstr("must be from 1 to 200"));
}

TYPED_TEST(StoredJobs, TakeANewRunOnlyWhenNoneLives) {
  const Lease lease = this->claimed();
  EXPECT_EQ(error_of([&] { this->store().insert_run(lease.job, {}); }), "conflict: run 1 of the job is leased");
  ASSERT_TRUE(this->store().end_run(lease, {.reason = Reason::stuck}));
  const Run second = this->store().insert_run(lease.job, {.note = "try harder"});
  EXPECT_EQ(second.number, 2);
  EXPECT_THAT(this->all_events(second.id).at(0).data_json, HasSubstr(R"("from":"failed","note":"try harder")"));
  EXPECT_EQ(this->store().job(lease.job.str()).last_run->number, 2);
  EXPECT_EQ(this->store().runs(lease.job).size(), 2u);
  EXPECT_EQ(this->store().run(lease.job, 1)->reason, Reason::stuck);
  EXPECT_FALSE(this->store().run(lease.job, 3));
  EXPECT_THAT(error_of([&] { this->store().insert_run(JobId("01jgfq2k00000000000000000a"), {}); }), StartsWith("not_found"));
}

TYPED_TEST(StoredJobs, ANewRunMayComeWithAnotherBudgetForTheJob) {
  const Lease lease = this->claimed();
  ASSERT_TRUE(this->store().end_run(lease, {.reason = Reason::budget_exhausted}));
  const std::string task = this->store().job(lease.job.str()).spec.task;
  this->store().insert_run(lease.job, {.budget_nano_usd = 7'000'000'000});
  EXPECT_EQ(this->store().job(lease.job.str()).spec.budget_nano_usd, 7'000'000'000);
  EXPECT_EQ(this->store().job(lease.job.str()).spec.task, task) << "the rest of the job stays";
  EXPECT_THAT(error_of([&] { this->store().insert_run(lease.job, {.budget_nano_usd = 1}); }), StartsWith("conflict"));
  EXPECT_EQ(this->store().job(lease.job.str()).spec.budget_nano_usd, 7'000'000'000) << "a run that is refused changes nothing";
}

}  // namespace
}  // namespace forge::store
