#include "orchestrator/base/stop.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "tests/support/errors.h"

namespace forge {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::code_of;

bool readable(int fd) {
  pollfd polled{fd, POLLIN, 0};
  return ::poll(&polled, 1, 0) == 1;
}

TEST(Stops, NeverStopUnlessTold) {
  const Stop stop;
  EXPECT_EQ(code_of([&] { stop.check(); }), "none");
  EXPECT_EQ(stop.poll_timeout_ms(), -1);
  EXPECT_EQ(stop.remaining(), hours(24));
}

TEST(Stops, TellTheirTwoReasonsApart) {
  std::stop_source source;
  const Stop cancelled(source.get_token());
  source.request_stop();
  EXPECT_EQ(code_of([&] { cancelled.check(); }), "cancelled");
  EXPECT_EQ(code_of([] { Stop::after(milliseconds(0)).check(); }), "timed_out");
  const Stop both(source.get_token(), SteadyClock::now());
  EXPECT_EQ(code_of([&] { both.check(); }), "cancelled");
}

TEST(Stops, GetShorterAndNeverLonger) {
  const Stop stop = Stop::after(hours(1));
  EXPECT_EQ(stop.shorter(hours(2)).deadline(), stop.deadline());
  EXPECT_LT(stop.shorter(milliseconds(1)).deadline(), stop.deadline());
}

TEST(Stops, ShorterKeepsTheToken) {
  std::stop_source source;
  const Stop stop = Stop(source.get_token()).shorter(hours(1));
  source.request_stop();
  EXPECT_TRUE(stop.cancelled());
}

TEST(Stops, TakeTheLongestDurationAsNever) {
  EXPECT_EQ(Stop::after(SteadyClock::duration::max()).deadline(), SteadyClock::time_point::max());
  EXPECT_EQ(Stop().shorter(SteadyClock::duration::max()).deadline(), SteadyClock::time_point::max());
}

TEST(Stops, GivePollARoundedUpTimeout) {
  EXPECT_EQ(Stop::after(milliseconds(-5)).poll_timeout_ms(), 0);
  EXPECT_EQ(Stop::after(hours(100)).poll_timeout_ms(), 86'400'000);
  EXPECT_GE(Stop::after(hours(1)).poll_timeout_ms(), 3'500'000);
}

TEST(StopWatches, WakeAPoll) {
  std::stop_source source;
  const StopWatch watch{Stop(source.get_token())};
  EXPECT_FALSE(readable(watch.fd()));
  source.request_stop();
  EXPECT_TRUE(readable(watch.fd()));
}

TEST(StopWatches, OfACancelledTokenAreReadyAtOnce) {
  std::stop_source source;
  source.request_stop();
  EXPECT_TRUE(readable(StopWatch{Stop(source.get_token())}.fd()));
}

TEST(StopWatches, HaveNoDescriptorWhenNobodyCanCancel) { EXPECT_EQ(StopWatch{Stop()}.fd(), -1); }

TEST(Pauses, LastTheirTime) {
  const auto before = SteadyClock::now();
  pause(milliseconds(3), Stop());
  EXPECT_GE(SteadyClock::now() - before, milliseconds(3));
}

TEST(Pauses, EndAtTheDeadline) {
  EXPECT_EQ(code_of([] { pause(hours(1), Stop::after(milliseconds(2))); }), "timed_out");
}

TEST(Pauses, EndWhenAnotherThreadCancels) {
  std::stop_source source;
  const std::jthread other([&] { source.request_stop(); });
  EXPECT_EQ(code_of([&] { pause(SteadyClock::duration::max(), Stop(source.get_token())); }), "cancelled");
}

}  // namespace
}  // namespace forge
