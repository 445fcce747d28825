#include "orchestrator/jobs/run_stop.h"

#include <gtest/gtest.h>

#include "orchestrator/base/error.h"

namespace forge::jobs {
namespace {

using std::chrono::seconds;

/// True once the clock has moved on and the silence with it.
bool grows_silent(Activity& activity) {
  pause(std::chrono::milliseconds(1), Stop());
  return activity.silent_for() > SteadyClock::duration::zero();
}

TEST(RunStop, SaysNothingWhileTheRunMayGoOn) {
  RunStop stop(seconds(60));
  EXPECT_FALSE(stop.why());
  EXPECT_NO_THROW(stop.stop().check());
}

TEST(RunStop, TheFirstReasonWins) {
  RunStop stop(seconds(60));
  stop.request(Reason::no_output);
  stop.request(Reason::cancelled);
  EXPECT_EQ(stop.why(), Reason::no_output);
  EXPECT_TRUE(stop.stop().cancelled());
}

TEST(RunStop, APassedTimeLimitIsATimeout) {
  RunStop stop(seconds(0));
  EXPECT_EQ(stop.why(), Reason::timeout);
  try {
    stop.stop().check();
    FAIL() << "went on past the limit";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::timed_out);
  }
}

TEST(RunStop, ARequestAfterTheTimeLimitIsStillTheReason) {
  RunStop stop(seconds(0));
  stop.request(Reason::cancelled);
  EXPECT_EQ(stop.why(), Reason::cancelled);
}

TEST(Activity, AToolAtWorkIsNeverSilent) {
  Activity activity;
  const Listening to_the_agent(activity);
  activity.tool_started();
  EXPECT_EQ(activity.silent_for(), SteadyClock::duration::zero());
  activity.tool_ended();
  EXPECT_TRUE(grows_silent(activity));
}

TEST(Activity, OnlyAnAgentThatIsListenedToCanBeSilent) {
  Activity activity;
  activity.touch();
  EXPECT_EQ(activity.silent_for(), SteadyClock::duration::zero());
  {
    const Listening to_the_agent(activity);
    EXPECT_TRUE(grows_silent(activity));
  }
  EXPECT_EQ(activity.silent_for(), SteadyClock::duration::zero());
}

TEST(Activity, AnEndWithoutAStartDoesNotHideLaterSilence) {
  Activity activity;
  const Listening to_the_agent(activity);
  activity.tool_ended();
  EXPECT_TRUE(grows_silent(activity));
  activity.tool_started();
  EXPECT_EQ(activity.silent_for(), SteadyClock::duration::zero());
}

}  // namespace
}  // namespace forge::jobs
