#include <atomic>
#include <map>
#include <nlohmann/json.hpp>

#include "orchestrator/base/guarded.h"
#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

template <typename Backend>
class StoredTrace : public StoreTest<Backend> {
 protected:
  json output_of(std::size_t bytes) {
    const Lease lease = this->claimed();
    const TraceEvent event = this->store().append_event(lease.run, trace::Setup{"make", 0, {std::string(bytes, 'x')}, 1}, {});
    return json::parse(event.data_json).at("output");
  }
};
TYPED_TEST_SUITE(StoredTrace, Backends);

TYPED_TEST(StoredTrace, NumbersMovesAndOtherEventsInOneSequence) {
  const Lease lease = this->claimed();
  EXPECT_EQ(this->say(lease.run, "a").seq, 3);
  this->store().move_run(lease, JobState::leased, JobState::preparing);
  EXPECT_EQ(this->say(lease.run, "b").seq, 5);
  this->reopen();
  EXPECT_EQ(this->say(lease.run, "c").seq, 6);
  const auto events = this->all_events(lease.run);
  expect_gap_free(events);
  std::vector<TraceType> types;
  types.reserve(events.size());
  for (const TraceEvent& event : events) types.push_back(event.type);
  EXPECT_THAT(types, ElementsAre(TraceType::state, TraceType::state, TraceType::text, TraceType::state, TraceType::text, TraceType::text));
}

TYPED_TEST(StoredTrace, ReturnsWhatItStored) {
  const Lease lease = this->claimed();
  this->clock_.advance_ms(5);
  const TraceEvent stored = this->store().append_event(lease.run, trace::LogLine{"info", "hello"}, 3);
  EXPECT_EQ(stored.ts_ms, this->clock_.now_ms());
  EXPECT_EQ(stored.turn, 3);
  EXPECT_EQ(stored.run, 1);
  const TraceEvent read = this->all_events(lease.run).back();
  EXPECT_EQ(envelope_json(read), envelope_json(stored));
  EXPECT_EQ(read.data_json, R"({"level":"info","message":"hello"})");
}

TYPED_TEST(StoredTrace, IsReadInPages) {
  const Lease lease = this->claimed();
  for (int i = 0; i < 5; ++i) this->say(lease.run, "x");
  this->store().move_run(lease, JobState::leased, JobState::preparing);
  TracePage page = this->store().events(lease.run, 0, 3);
  EXPECT_THAT(page.items, SizeIs(3));
  EXPECT_EQ(page.next_seq, 3);
  page = this->store().events(lease.run, page.next_seq, 3);
  EXPECT_EQ(page.items.front().seq, 4);
  page = this->store().events(lease.run, page.next_seq, 3);
  EXPECT_THAT(page.items, SizeIs(2));
  EXPECT_EQ(page.next_seq, 8);
  EXPECT_FALSE(page.complete);  // the run lives
  page = this->store().events(lease.run, page.next_seq, 3);
  EXPECT_THAT(page.items, SizeIs(0));
  EXPECT_EQ(page.next_seq, 8);
}

TYPED_TEST(StoredTrace, IsCompleteWhenAPageReachesTheTerminalEvent) {
  const Lease lease = this->claimed();
  this->store().end_run(lease, {.reason = Reason::stuck});
  EXPECT_FALSE(this->store().events(lease.run, 0, 3).complete);
  EXPECT_TRUE(this->store().events(lease.run, 0, 4).complete);
  EXPECT_TRUE(this->store().events(lease.run, 4, 4).complete);
  EXPECT_TRUE(this->store().events(lease.run, 99, 4).complete);
}

TYPED_TEST(StoredTrace, IsClosedByTheEndOfTheRun) {
  const Lease lease = this->claimed();
  this->store().end_run(lease, {.reason = Reason::stuck});
  EXPECT_THAT(error_of([&] { this->say(lease.run, "late"); }), StartsWith("conflict"));
  this->reopen();
  EXPECT_THAT(error_of([&] { this->say(lease.run, "late"); }), StartsWith("conflict"));
  EXPECT_EQ(this->all_events(lease.run).back().type, TraceType::terminal);
}

TYPED_TEST(StoredTrace, OfAnUnknownRunIsNotFound) {
  const RunId nobody("01jgfq2k00000000000000000a");
  EXPECT_THAT(error_of([&] { this->say(nobody, "x"); }), StartsWith("not_found"));
  EXPECT_THAT(error_of([&] { this->store().events(nobody, 0, 10); }), StartsWith("not_found"));
}

TYPED_TEST(StoredTrace, HoldsNoSecretAndOnlyUtf8) {
  this->redactor_.add("hunter2hunter2");
  const Lease lease = this->claimed();
  const TraceEvent event = this->store().append_event(
      lease.run, trace::Sandbox{"acquire", "s \xff", "local", "base", {"hunter2hunter2"}, {std::string("a\0b", 3)}, 1}, {});
  const json data = json::parse(event.data_json);
  EXPECT_EQ(data.at("enforced").at(0), "[redacted]");
  EXPECT_EQ(data.at("id"), "s \xef\xbf\xbd");
  EXPECT_EQ(data.at("unenforced").at(0),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(data.at("replaced"), 2);
  EXPECT_THAT(this->say(lease.run, "clean").data_json, Not(HasSubstr("replaced")));
}

TYPED_TEST(StoredTrace, KeepsAPayloadOfTheInlineLimitInTheRow) {
  const json output = this->output_of(Payload::kInlineBytes);
  EXPECT_EQ(output.at("text").get<std::string>().size(), Payload::kInlineBytes);
  EXPECT_FALSE(output.contains("blob"));
}

TYPED_TEST(StoredTrace, MovesALongerPayloadIntoABlob) {
  const json output = this->output_of(Payload::kInlineBytes + 1);
  EXPECT_EQ(output.at("bytes"), Payload::kInlineBytes + 1);
  EXPECT_EQ(this->store().blob(output.at("blob")), std::string(Payload::kInlineBytes + 1, 'x'));
  EXPECT_GT(output.at("head").get<std::string>().size(), 1000u);
  EXPECT_GT(output.at("tail").get<std::string>().size(), 1000u);
  EXPECT_LT(output.dump().size(), Payload::kInlineBytes);
  EXPECT_FALSE(output.contains("text"));
}

TYPED_TEST(StoredTrace, RedactsAPayloadBeforeItIsABlob) {
  this->redactor_.add("hunter2hunter2");
  const Lease lease = this->claimed();
  const TraceEvent event = this->say(lease.run, std::string(Payload::kInlineBytes, 'x') + " hunter2hunter2");
  const std::string id = json::parse(event.data_json).at("blob");
  EXPECT_THAT(this->store().blob(id), HasSubstr("x [redacted]"));
  EXPECT_TRUE(this->store().run_has_blob(lease.run, id));
  EXPECT_FALSE(this->store().run_has_blob(this->claimed().run, id));
}

TYPED_TEST(StoredTrace, CutsTheMiddleOfOtherLongTexts) {
  const Lease lease = this->claimed();
  const TraceEvent event = this->store().append_event(lease.run, trace::LogLine{"info", "begin" + std::string(1 << 20, 'x') + "end"}, {});
  EXPECT_LT(event.data_json.size(), Payload::kInlineBytes);
  const std::string message = json::parse(event.data_json).at("message");
  EXPECT_THAT(message, StartsWith("begin"));
  EXPECT_THAT(message, testing::EndsWith("end"));
  EXPECT_THAT(message, HasSubstr("bytes cut"));
}

TYPED_TEST(StoredTrace, TellsTheListenerInOrderBeforeTheCallerGoesOn) {
  Guarded<std::map<std::string, std::vector<std::int64_t>>> heard;
  this->store().on_event([&](const JobId& job, const TraceEvent& event) { (*heard.lock())[job.str()].push_back(event.seq); });
  const Lease a = this->claimed();
  const Lease b = this->claimed();
  on_threads(8, [&](int i) {
    const Lease& lease = i % 2 == 0 ? a : b;
    for (int n = 0; n < 20; ++n) {
      const TraceEvent event = this->say(lease.run, "x");
      EXPECT_GE((*heard.lock())[lease.job.str()].size(), static_cast<std::size_t>(event.seq));
    }
  });
  this->store().end_run(a, {.reason = Reason::stuck});
  for (const Lease& lease : {a, b}) {
    const auto seqs = (*heard.lock())[lease.job.str()];
    EXPECT_THAT(seqs, SizeIs(this->all_events(lease.run).size()));
    for (std::size_t i = 0; i < seqs.size(); ++i) EXPECT_EQ(seqs[i], static_cast<std::int64_t>(i) + 1);
  }
}

TYPED_TEST(StoredTrace, SurvivesAListenerThatThrows) {
  this->store().on_event([](const JobId&, const TraceEvent&) { throw Error(ErrorCode::internal, "listener"); });
  const Lease lease = this->claimed();
  EXPECT_EQ(this->say(lease.run, "a").seq, 3);
  EXPECT_EQ(this->say(lease.run, "b").seq, 4);
}

// Given a listener that dies as soon as it is replaced, when events come all the while, then none is told to the dead one.
TYPED_TEST(StoredTrace, ForgetsAListenerBeforeItReturns) {
  const Lease lease = this->claimed();
  std::atomic<bool> done = false;
  std::jthread appender([&] {
    while (!done) this->say(lease.run, "x");
  });
  for (int i = 0; i < 20; ++i) {
    auto heard = std::make_unique<std::int64_t>(0);
    this->store().on_event([&seq = *heard](const JobId&, const TraceEvent& event) { seq = event.seq; });
    this->store().on_event({});
  }
  done = true;
}

TYPED_TEST(StoredTrace, RefusesWritesFromItsListener) {
  Guarded<std::string> refused;
  this->store().on_event([&](const JobId&, const TraceEvent&) { *refused.lock() = error_of([&] { this->store().claim_run(1); }); });
  this->queued();
  EXPECT_THAT(*refused.lock(), StartsWith("internal"));
}

// Given eight threads that append and one that moves the run through its states, a reader that follows along never meets a hole.
TYPED_TEST(StoredTrace, HasNoHoleForAReaderWhileItGrows) {
  const Lease lease = this->claimed();
  std::jthread reader([&] {
    std::int64_t after = 0;
    while (true) {
      const TracePage page = this->store().events(lease.run, after, 7);
      ASSERT_NO_FATAL_FAILURE(expect_gap_free(page.items, after));
      after = page.next_seq;
      if (page.complete) return;
    }
  });
  on_threads(8, [&](int i) {
    for (int n = 0; n < 30; ++n) {
      this->say(lease.run, "x");
      if (i != 0) continue;
      if (n == 5) this->store().move_run(lease, JobState::leased, JobState::preparing);
      if (n == 15) this->store().move_run(lease, JobState::preparing, JobState::running);
      if (n == 25) this->store().move_run(lease, JobState::running, JobState::finalizing);
    }
  });
  this->store().end_run(lease, {.reason = Reason::completed});
  reader.join();
  EXPECT_THAT(this->all_events(lease.run), SizeIs(2 + 240 + 3 + 2));
}

}  // namespace
}  // namespace forge::store
