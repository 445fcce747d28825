#include "orchestrator/domain/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "orchestrator/base/text.h"

namespace forge {
namespace {

using testing::IsEmpty;

std::vector<JobState> all_states() {
  std::vector<JobState> states;
  for (int i = 0; i <= static_cast<int>(JobState::cancelled); ++i) states.push_back(static_cast<JobState>(i));
  return states;
}
std::vector<Reason> all_reasons() {
  std::vector<Reason> reasons;
  for (int i = 0; i <= static_cast<int>(Reason::interrupted); ++i) reasons.push_back(static_cast<Reason>(i));
  return reasons;
}

std::set<std::string> moves_from(JobState from) {
  std::set<std::string> names;
  for (const JobState to : all_states())
    if (can_move(from, to)) names.emplace(name_of(to));
  return names;
}

TEST(JobStates, AreReadBackFromTheirNames) {
  for (const JobState state : all_states()) EXPECT_EQ(parse_job_state(name_of(state)), state);
  EXPECT_EQ(name_of(JobState::no_changes), "no_changes");
  EXPECT_EQ(parse_job_state("done"), std::nullopt);
}

TEST(JobStates, MoveAsTheTableSays) {
  using Names = std::set<std::string>;
  const std::map<JobState, Names> table{
      {JobState::created, {"queued"}},
      {JobState::queued, {"leased", "cancelled"}},
      {JobState::leased, {"preparing", "queued", "failed", "cancelled"}},
      {JobState::preparing, {"running", "queued", "failed", "cancelled"}},
      {JobState::running, {"finalizing", "queued", "failed", "cancelled"}},
      {JobState::finalizing, {"succeeded", "no_changes", "failed", "cancelled", "queued"}},
  };
  for (const auto& [from, to] : table) EXPECT_EQ(moves_from(from), to) << name_of(from);
}

TEST(JobStates, AreFinalForGood) {
  for (const JobState state : all_states()) {
    if (is_final(state)) {
      EXPECT_THAT(moves_from(state), IsEmpty()) << name_of(state);
    } else {
      EXPECT_FALSE(moves_from(state).empty()) << name_of(state);
    }
  }
}

TEST(JobStates, LiveBetweenTheQueueAndTheEnd) {
  EXPECT_FALSE(is_live(JobState::created));
  EXPECT_TRUE(is_live(JobState::queued));
  EXPECT_TRUE(is_live(JobState::finalizing));
  EXPECT_FALSE(is_live(JobState::succeeded));
  EXPECT_FALSE(is_live(JobState::cancelled));
}

TEST(JobStates, NeverReachAResultWithoutFinalizing) {
  for (const JobState from : all_states()) {
    if (from == JobState::finalizing) continue;
    EXPECT_FALSE(can_move(from, JobState::succeeded)) << name_of(from);
    EXPECT_FALSE(can_move(from, JobState::no_changes)) << name_of(from);
  }
}

TEST(Reasons, AreReadBackFromTheirNames) {
  for (const Reason reason : all_reasons()) EXPECT_EQ(parse_reason(name_of(reason)), reason);
  EXPECT_EQ(name_of(Reason::completed), "completed");
  EXPECT_EQ(name_of(Reason::protocol_error), "protocol_error");
  EXPECT_EQ(name_of(Reason::setup_failed), "setup_failed");
  EXPECT_EQ(name_of(Reason::interrupted), "interrupted");
  EXPECT_EQ(parse_reason("because"), std::nullopt);
}

TEST(Reasons, GiveTheState) {
  for (const Reason reason : all_reasons()) {
    const JobState state = state_of(reason);
    EXPECT_TRUE(is_final(state));
    // A reason that bears the name of a state leads to that state.
    if (const auto namesake = parse_job_state(name_of(reason))) {
      EXPECT_EQ(state, *namesake);
    } else {
      EXPECT_EQ(state, reason == Reason::completed ? JobState::succeeded : JobState::failed) << name_of(reason);
    }
  }
}

TEST(Reasons, AreExplainedInASentenceEach) {
  std::set<std::string_view> sentences;
  for (const Reason reason : all_reasons()) {
    EXPECT_TRUE(explain(reason).ends_with('.')) << name_of(reason);
    EXPECT_GT(explain(reason).size(), 20u) << name_of(reason);
    sentences.insert(explain(reason));
  }
  EXPECT_EQ(sentences.size(), all_reasons().size());
}

TEST(Branches, AreNamedByJobAndRun) { EXPECT_EQ(branch_name(JobId("01j8abcdefghjkmnpqrstvwxyz"), 2), "forge/01j8abcdef-2"); }

TEST(Titles, AreTheFirstLineOfTheTask) {
  EXPECT_EQ(default_title("\n  Fix the parser \r\nIt fails on empty input."), "Fix the parser");
  EXPECT_EQ(default_title(""), "");
  EXPECT_EQ(default_title(std::string(72, 'x')), std::string(72, 'x'));
}

TEST(Titles, AreCutAtCharactersNotBytes) {
  std::string umlauts;
  for (int i = 0; i < 72; ++i) umlauts += "ä";
  EXPECT_EQ(default_title(umlauts), umlauts);
  const std::string cut = default_title(umlauts + "ä");
  EXPECT_EQ(cut, umlauts.substr(0, umlauts.size() - 2) + "…");
  EXPECT_TRUE(is_utf8(cut));
}

TEST(Titles, AreValidUtf8) { EXPECT_EQ(default_title("a\xff"), "a\xEF\xBF\xBD"); }

}  // namespace
}  // namespace forge
