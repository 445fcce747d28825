#include "orchestrator/jobs/run_stop.h"

#include <gtest/gtest.h>

#include "orchestrator/base/error.h"

namespace forge::jobs {
namespace {

using std::chrono::seconds;

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
  activity.tool_started();
  EXPECT_EQ(activity.silent_for(), SteadyClock::duration::zero());
  activity.tool_ended();
  const auto first = activity.silent_for();
  EXPECT_GE(activity.silent_for(), first);
}

TEST(Activity, AnEndWithoutAStartDoesNotHideLaterSilence) {
  Activity activity;
  activity.tool_ended();
  activity.tool_started();
  EXPECT_EQ(activity.silent_for(), SteadyClock::duration::zero());
}

}  // namespace
}  // namespace forge::jobs
