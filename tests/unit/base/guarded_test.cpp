#include "orchestrator/base/guarded.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace forge {
namespace {

TEST(GuardedData, CountsEveryThread) {
  Guarded<int> count;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 1000; ++j) ++*count.lock();
      });
  }
  EXPECT_EQ(*count.lock(), 4000);
}

TEST(GuardedData, WakesAWaiter) {
  Guarded<bool> ready(false);
  const std::jthread other([&] {
    auto value = ready.lock();
    *value = true;
    value.notify_all();
  });
  EXPECT_TRUE(ready.lock().wait({}, [](bool value) { return value; }));
}

TEST(GuardedData, StopsWaitingWhenTheTokenSaysSo) {
  Guarded<bool> never(false);
  std::stop_source source;
  const std::jthread other([&] { source.request_stop(); });
  EXPECT_FALSE(never.lock().wait(source.get_token(), [](bool value) { return value; }));
}

TEST(GuardedData, StopsWaitingAtTheDeadline) {
  Guarded<bool> never(false);
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  EXPECT_FALSE(never.lock().wait_until({}, soon, [](bool value) { return value; }));
}

}  // namespace
}  // namespace forge
