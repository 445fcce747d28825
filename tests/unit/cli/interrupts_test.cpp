#include "orchestrator/cli/interrupts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace forge::cli {
namespace {

/// Opens once.
class Gate {
 public:
  void open() {
    auto open = open_.lock();
    *open = true;
    open.notify_all();
  }
  /// False when it did not open within `at_most`.
  bool wait(std::chrono::milliseconds at_most = std::chrono::seconds(8)) {
    return open_.lock().wait_until({}, SteadyClock::now() + at_most, [](bool open) { return open; });
  }

 private:
  Guarded<bool> open_;
};

TEST(Interrupts, TheFirstSignalCancelsUnlessAVerbWantsSomethingElse) {
  Interrupts interrupts;
  const Stop stop = interrupts.stop();
  Gate heard;
  interrupts.handle([&] { heard.open(); }, 4);
  ::kill(::getpid(), SIGINT);
  ASSERT_TRUE(heard.wait());
  EXPECT_FALSE(stop.cancelled());
  interrupts.reset();
  ::kill(::getpid(), SIGTERM);
  EXPECT_THROW(pause(std::chrono::seconds(8), stop), std::exception);
  EXPECT_TRUE(stop.cancelled());
}

// The verb's objects die right after it took its action back.
TEST(Interrupts, AnActionThatWasTakenBackIsNotUnderWayAnyMore) {
  Interrupts interrupts;
  Gate begun;
  Gate taken_back;
  std::atomic<bool> done = false;
  interrupts.handle(
      [&] {
        begun.open();
        taken_back.wait(std::chrono::milliseconds(200));
        done = true;
      },
      4);
  ::kill(::getpid(), SIGINT);
  ASSERT_TRUE(begun.wait());
  interrupts.reset();
  EXPECT_TRUE(done);
  taken_back.open();
}

}  // namespace
}  // namespace forge::cli
