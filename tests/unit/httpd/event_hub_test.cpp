#include "orchestrator/httpd/event_hub.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "tests/support/raw_http.h"
#include "tests/unit/httpd/stored_events.h"
#include "tests/unit/httpd/test_site.h"

namespace forge::httpd {
namespace {

using std::chrono::milliseconds;
using test::RawClient;
using testing::HasSubstr;

class FailingSource final : public EventSource {
 public:
  Batch after(std::int64_t) override { throw Error(ErrorCode::unavailable, "the store is away"); }
};

/// Looks at what is stored, and then takes its time: what is published meanwhile is not in the batch.
class SlowSource final : public EventSource {
 public:
  SlowSource(Stored& stored, Gate& gate) : stored_(stored), gate_(gate) {}
  Batch after(std::int64_t seq) override {
    Batch batch = stored_.after(seq);
    gate_.wait(Stop::after(std::chrono::seconds(50)));
    return batch;
  }

 private:
  Stored& stored_;
  Gate& gate_;
};

struct Hub {
  explicit Hub(HubOptions options = {}) : hub(options, *log) {}

  RawClient stream(std::int64_t after = 0, std::vector<std::string> tags = {}) {
    return stream_of(std::make_unique<StoredSource>(stored), after, std::move(tags));
  }
  RawClient stream_of(std::unique_ptr<EventSource> source, std::int64_t after = 0, std::vector<std::string> tags = {}) {
    SocketPair pair = make_socketpair(SOCK_STREAM);
    EXPECT_TRUE(hub.adopt(std::move(pair.theirs), {.topic = "job", .after = after, .source = std::move(source), .tags = std::move(tags)}));
    return RawClient(std::move(pair.ours));
  }
  void happen(const std::string& data, bool last = false) { hub.publish("job", stored.add(data, last)); }

  std::unique_ptr<Log> log = make_null_log();
  Stored stored;
  EventHub hub;
};

std::string numbered(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) text += "id: " + std::to_string(i) + "\ndata: event " + std::to_string(i) + "\n\n";
  return text;
}

TEST(Frame, HasIdNameAndData) {
  EXPECT_EQ(frame({.seq = 7, .name = "end", .data = "{}"}), "id: 7\nevent: end\ndata: {}\n\n");
  EXPECT_EQ(frame({.seq = 0, .name = "", .data = ""}), "data: \n\n");
}

TEST(Frame, ALineBreakInTheDataDoesNotEndTheEvent) {
  EXPECT_EQ(frame({.seq = 1, .data = "a\nevent: fake"}), "id: 1\ndata: a\ndata: event: fake\n\n");
}

TEST(EventHub, SendsStoredEventsAndThenLiveOnes) {
  Hub hub;
  for (int i = 1; i <= 10; ++i) hub.stored.add("event " + std::to_string(i));
  RawClient client = hub.stream();
  EXPECT_EQ(client.read_bytes(numbered(1, 10).size()), numbered(1, 10));
  for (int i = 11; i <= 20; ++i) hub.happen("event " + std::to_string(i));
  EXPECT_EQ(client.read_bytes(numbered(11, 20).size()), numbered(11, 20));
}

TEST(EventHub, ResumesAfterAPosition) {
  Hub hub;
  for (int i = 1; i <= 10; ++i) hub.stored.add("event " + std::to_string(i));
  RawClient client = hub.stream(7);
  EXPECT_EQ(client.read_bytes(numbered(8, 10).size()), numbered(8, 10));
}

TEST(EventHub, JoiningWhileEventsHappenMissesNoneAndRepeatsNone) {
  Hub hub;
  constexpr int kEvents = 2000;
  std::jthread writer([&] {
    for (int i = 1; i <= kEvents; ++i) hub.happen("event " + std::to_string(i), i == kEvents);
  });
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(hub.stream());
  for (RawClient& client : clients) EXPECT_EQ(client.read_to_end(), numbered(1, kEvents) + "event: end\ndata: {}\n\n");
}

TEST(EventHub, WhatIsPublishedBetweenALookAtTheStoreAndItsResultIsNotLost) {
  Gate gate;
  Hub hub;
  RawClient client = hub.stream_of(std::make_unique<SlowSource>(hub.stored, gate));
  gate.await(1);
  hub.happen("event 1");
  gate.open();
  EXPECT_EQ(client.read_bytes(numbered(1, 1).size()), numbered(1, 1));
  hub.happen("event 2");
  EXPECT_EQ(client.read_bytes(numbered(2, 2).size()), numbered(2, 2));
}

TEST(EventHub, WhatIsPublishedAndNeverStoredDoesNotHoldAStreamUp) {
  Hub hub;
  hub.stored.add("event 1");
  RawClient client = hub.stream();
  client.read_bytes(numbered(1, 1).size());
  hub.hub.publish("job", {.seq = 7, .data = "not stored"});
  // Those that come while the stream looks for the missing ones are not stored either, and pass it by; sooner or later one does not.
  pollfd polled{client.fd(), POLLIN, 0};
  for (std::int64_t seq = 8; ::poll(&polled, 1, 1) == 0; ++seq) hub.hub.publish("job", {.seq = seq, .data = "here"});
  EXPECT_THAT(client.read_to("\n\n"), HasSubstr("data: here"));
}

TEST(EventHub, EndsWithTheEndThatTheSourceTells) {
  Hub hub;
  RawClient live = hub.stream();
  hub.happen("event 1");
  EXPECT_EQ(live.read_bytes(numbered(1, 1).size()), numbered(1, 1));
  hub.happen("event 2", true);
  EXPECT_EQ(live.read_to_end(), numbered(2, 2) + "event: end\ndata: {}\n\n");
  RawClient late = hub.stream(1);
  EXPECT_EQ(late.read_to_end(), numbered(2, 2) + "event: end\ndata: {}\n\n");
}

TEST(EventHub, OtherTopicsDoNotReachAStream) {
  Hub hub;
  RawClient client = hub.stream();
  hub.hub.publish("other", {.seq = 1, .data = "not ours"});
  hub.happen("event 1");
  EXPECT_EQ(client.read_bytes(numbered(1, 1).size()), numbered(1, 1));
}

TEST(EventHub, ASlowReaderCostsTheRingAndStillGetsEverything) {
  Hub hub({.ring_bytes = 4096});
  RawClient client = hub.stream();
  std::string expected;
  for (int i = 1; i <= 400; ++i) {
    const std::string data(2000, static_cast<char>('a' + i % 26));
    expected += "id: " + std::to_string(i) + "\ndata: " + data + "\n\n";
    hub.happen(data);
  }
  EXPECT_EQ(client.read_bytes(expected.size()), expected);
}

TEST(EventHub, AReaderThatTakesNothingIsDropped) {
  Hub hub({.ring_bytes = 4096, .heartbeat = std::chrono::hours(1), .stall = milliseconds(40)});
  RawClient client = hub.stream();
  for (int i = 1; i <= 1000; ++i) hub.happen(std::string(2000, 'x'));
  const Stop patience = Stop::after(std::chrono::seconds(50));
  while (hub.hub.size() != 0) pause(milliseconds(5), patience);
  EXPECT_EQ(hub.hub.dropped(), 1U);
}

TEST(EventHub, AQuietStreamGetsHeartbeats) {
  Hub hub({.heartbeat = milliseconds(10)});
  RawClient client = hub.stream();
  EXPECT_EQ(client.read_bytes(6), ":\n\n:\n\n");
}

TEST(EventHub, AClientThatLeavesIsForgotten) {
  Hub hub;
  { const RawClient client = hub.stream(); }
  const Stop patience = Stop::after(std::chrono::seconds(50));
  while (hub.hub.size() != 0) pause(milliseconds(1), patience);
  EXPECT_EQ(hub.hub.dropped(), 0U);
}

TEST(EventHub, WhatAClientSendsIsForgotten) {
  Hub hub;
  RawClient client = hub.stream();
  client.send(std::string(100'000, 'x'));
  hub.happen("event 1");
  EXPECT_EQ(client.read_bytes(numbered(1, 1).size()), numbered(1, 1));
}

TEST(EventHub, StreamsEndByTheirTags) {
  Hub hub;
  RawClient mine = hub.stream(0, {"token:a", "session:1"});
  RawClient other = hub.stream(0, {"token:b"});
  EXPECT_EQ(hub.hub.end_tagged("token:a"), 1U);
  EXPECT_TRUE(mine.closes());
  hub.happen("event 1");
  EXPECT_EQ(other.read_bytes(numbered(1, 1).size()), numbered(1, 1));
}

// A request that was let in just before its token was revoked reaches the hub just after it.
TEST(EventHub, NoStreamOpensOnATagThatWasEnded) {
  Hub hub;
  EXPECT_EQ(hub.hub.end_tagged("token:a"), 0U);
  SocketPair late = make_socketpair(SOCK_STREAM);
  EXPECT_FALSE(
      hub.hub.adopt(std::move(late.theirs),
                    {.topic = "job", .after = 0, .source = std::make_unique<StoredSource>(hub.stored), .tags = {"session:1", "token:a"}}));
  RawClient other = hub.stream(0, {"token:b"});
  hub.happen("event 1");
  EXPECT_EQ(other.read_bytes(numbered(1, 1).size()), numbered(1, 1));
}

TEST(EventHub, HoldsItsCapAtTheCapAndOneAbove) {
  Hub hub({.max_streams = 2});
  RawClient first = hub.stream();
  EXPECT_TRUE(hub.hub.has_room());
  RawClient second = hub.stream();
  EXPECT_FALSE(hub.hub.has_room());
  SocketPair pair = make_socketpair(SOCK_STREAM);
  EXPECT_FALSE(hub.hub.adopt(std::move(pair.theirs),
                             {.topic = "job", .after = 0, .source = std::make_unique<StoredSource>(hub.stored), .tags = {}}));
  EXPECT_TRUE(RawClient(std::move(pair.ours)).closes());
}

TEST(EventHub, AStreamWhoseSourceFailsIsClosedSoThatItResumes) {
  Hub hub;
  RawClient client = hub.stream_of(std::make_unique<FailingSource>());
  EXPECT_TRUE(client.closes());
}

TEST(EventHub, StoppingTellsEveryStream) {
  Hub hub;
  RawClient idle = hub.stream();
  hub.happen("event 1");
  EXPECT_EQ(idle.read_bytes(numbered(1, 1).size()), numbered(1, 1));
  hub.hub.stop(Stop::after(std::chrono::seconds(50)));
  EXPECT_EQ(idle.read_to_end(), "event: shutdown\ndata: {}\n\n");
  EXPECT_EQ(hub.hub.size(), 0U);
  EXPECT_FALSE(hub.hub.has_room());
}

TEST(EventHub, AStreamThatArrivesWhileItStopsIsToldToo) {
  Hub hub;
  hub.hub.stop(Stop::after(std::chrono::seconds(50)));
  SocketPair pair = make_socketpair(SOCK_STREAM);
  EXPECT_FALSE(hub.hub.adopt(std::move(pair.theirs), {.topic = "job", .source = std::make_unique<StoredSource>(hub.stored)}));
  EXPECT_EQ(RawClient(std::move(pair.ours)).read_to_end(), "event: shutdown\ndata: {}\n\n");
}

TEST(EventHub, StoppingDoesNotWaitForAReaderThatTakesNothing) {
  Hub hub({.ring_bytes = 4096});
  RawClient client = hub.stream();
  for (int i = 1; i <= 1000; ++i) hub.happen(std::string(2000, 'x'));
  hub.hub.stop(Stop::after(milliseconds(20)));
}

}  // namespace
}  // namespace forge::httpd
