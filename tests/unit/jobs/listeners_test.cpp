#include "orchestrator/jobs/listeners.h"

#include <gtest/gtest.h>

#include <thread>

#include "orchestrator/domain/trace.h"

namespace forge::jobs {
namespace {

TEST(Listeners, EachHearsEveryEventUntilItsHandleDies) {
  Listeners<const JobId&, const TraceEvent&> listeners;
  int first = 0;
  int second = 0;
  auto a = listeners.add([&](const JobId&, const TraceEvent&) { ++first; });
  const auto b = listeners.add([&](const JobId&, const TraceEvent&) { ++second; });
  listeners.tell(JobId("j"), {});
  a.reset();
  listeners.tell(JobId("j"), {});
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST(Listeners, AHandleMayOutliveThem) {
  std::shared_ptr<void> handle;
  {
    Listeners<const JobId&, const TraceEvent&> listeners;
    handle = listeners.add([](const JobId&, const TraceEvent&) {});
  }
  handle.reset();
}

TEST(Listeners, AfterTheHandleDiedNoCallIsUnderWay) {
  Listeners<const JobId&, const TraceEvent&> listeners;
  bool alive = true;
  bool called_dead = false;
  auto handle = listeners.add([&](const JobId&, const TraceEvent&) { called_dead = called_dead || !alive; });
  std::jthread teller([&](const std::stop_token& token) {
    while (!token.stop_requested()) listeners.tell(JobId("j"), {});
  });
  handle.reset();
  alive = false;
  teller.request_stop();
  teller.join();
  EXPECT_FALSE(called_dead);
}

}  // namespace
}  // namespace forge::jobs
