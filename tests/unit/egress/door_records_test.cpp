#include "orchestrator/egress/door_records.h"

#include <thread>

#include "tests/unit/egress/door_fixture.h"

namespace forge::egress {
namespace {

using testing::ElementsAre;

/// A trace that takes nothing before it is let.
class HeldTrace final : public TraceSink {
 public:
  void append(TraceData, std::optional<int>) override {
    auto state = state_.lock();
    state->begun = true;
    state.notify_all();
    state.wait({}, [](const State& now) { return now.open; });
    state->order.emplace_back("kept");
  }
  void alive() override {}

  void await_begin() {
    state_.lock().wait({}, [](const State& now) { return now.begun; });
  }
  void open() {
    auto state = state_.lock();
    state->open = true;
    state.notify_all();
  }
  void note(const std::string& what) { state_.lock()->order.push_back(what); }
  std::vector<std::string> order() { return state_.lock()->order; }

 private:
  struct State {
    bool begun = false;
    bool open = false;
    std::vector<std::string> order;
  };
  Guarded<State> state_;
};

/// A record that costs nothing, of a request with so many bytes.
DoorRecord record_of(std::size_t bytes) {
  return {.counted = {}, .billed = false, .status = 400, .request = std::string(bytes, 'x'), .answer = {}};
}

class DoorRecordsTest : public DoorTest {
 protected:
  Reservations under_way_;
  Meter meter_{*store_, clock_, trace_, job_, run_, {}, prices_, {}, under_way_};
  HeldTrace held_;
};

TEST_F(DoorRecordsTest, HoldsARequestBackWhileTooMuchWaitsForTheDisk) {
  {
    DoorRecords records(meter_, held_, redactor_, [](const std::string&) {});
    records.add(record_of(1), test::soon());
    held_.await_begin();
    records.add(record_of(DoorRecords::kMostWaitingBytes - 1), test::soon());
    records.add(record_of(1), test::soon());  // fills it to the byte
    std::jthread third([&] {
      held_.note("asked");
      records.add(record_of(1), test::soon());
      held_.note("added");
    });
    while (held_.order().empty()) forge::pause(std::chrono::milliseconds(1), test::soon());
    held_.open();
  }
  const auto order = held_.order();
  ASSERT_EQ(order.size(), 6U);
  EXPECT_EQ(order[0], "asked");
  EXPECT_EQ(order[1], "kept") << "room came first";
}

TEST_F(DoorRecordsTest, KeepsWhatWasBilledAlsoWithoutRoomWhenNobodyMayWait) {
  {
    DoorRecords records(meter_, held_, redactor_, [](const std::string&) {});
    records.add(record_of(1), test::soon());
    held_.await_begin();
    records.add(record_of(DoorRecords::kMostWaitingBytes), test::soon());
    std::stop_source cancelled;
    cancelled.request_stop();
    records.add(record_of(1), Stop(cancelled.get_token()));
    held_.open();
  }
  EXPECT_THAT(held_.order(), ElementsAre("kept", "kept", "kept"));
}

}  // namespace
}  // namespace forge::egress
