#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "orchestrator/base/text.h"
#include "orchestrator/http/job_events.h"
#include "tests/support/sample_review.h"
#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using test::get_request;
using test::RawClient;
using test::RawResponse;
using testing::HasSubstr;
using testing::StartsWith;

/// One event as it came over the wire.
struct Seen {
  std::int64_t id = 0;
  std::string name;
  json data;
};

/// An open stream, read event by event; comments and retry lines are skipped.
class Stream {
 public:
  Stream(RawClient client, const std::string& target, const std::string& headers = {}) : client_(std::move(client)) {
    client_.send(get_request(target, headers));
    head = client_.read_to("\r\n\r\n");
  }
  Seen next() {
    while (true) {
      const std::string text = client_.read_to("\n\n");
      if (text.find("data: ") == std::string::npos) continue;
      Seen seen;
      for (const std::string& line : split(text, '\n')) {
        if (line.starts_with("id: ")) seen.id = std::stoll(line.substr(4));
        if (line.starts_with("event: ")) seen.name = line.substr(7);
        if (line.starts_with("data: ")) seen.data = json::parse(line.substr(6));
      }
      return seen;
    }
  }
  bool closes() { return client_.closes(); }
  std::string head;

 private:
  RawClient client_;
};

struct Streaming : ApiServer {
  using ApiServer::ApiServer;
  Stream open(const std::string& target, const std::string& headers = {}) {
    return {RawClient::unix_socket(socket_path()), target, headers};
  }
  void say(const std::string& id, int number) {
    jobs.happen(id, TraceType::log, json{{"level", "info"}, {"message", std::to_string(number)}}.dump());
  }
  /// Waits until `count` streams are in the hub, so that what happens next is live for them.
  void await_streams(std::size_t count) {
    const Stop patience = Stop::after(std::chrono::seconds(50));
    while (hub.size() != count) pause(milliseconds(1), patience);
  }
};

TEST(EventRoutes, AStreamSendsStoredEventsThenLiveOnesThenTheEnd) {
  Streaming server;
  const std::string id = server.make_job();
  for (int i = 1; i <= 3; ++i) server.say(id, i);
  Stream stream = server.open("/api/v1/jobs/" + id + "/events");
  EXPECT_THAT(stream.head, HasSubstr("Content-Type: text/event-stream"));
  for (int i = 1; i <= 3; ++i) {
    const Seen seen = stream.next();
    EXPECT_EQ(seen.id, i);
    EXPECT_EQ(seen.name, "");
    EXPECT_EQ(seen.data.at("seq"), i);
    EXPECT_EQ(seen.data.at("data").at("message"), std::to_string(i));
  }
  server.say(id, 4);
  EXPECT_EQ(stream.next().id, 4);
  server.jobs.end(id, Reason::completed);
  EXPECT_EQ(stream.next().data.at("type"), "terminal");
  const Seen end = stream.next();
  EXPECT_EQ(end.name, "end");
  EXPECT_EQ(end.data, (json{{"run", 1}, {"state", "succeeded"}, {"reason", "completed"}}));
  EXPECT_TRUE(stream.closes());
}

TEST(EventRoutes, AStreamResumesByLastEventIdOrAfter) {
  Streaming server;
  const std::string id = server.make_job();
  for (int i = 1; i <= 5; ++i) server.say(id, i);
  EXPECT_EQ(server.open("/api/v1/jobs/" + id + "/events", "Last-Event-ID: 3\r\n").next().id, 4);
  EXPECT_EQ(server.open("/api/v1/jobs/" + id + "/events?after=2").next().id, 3);
  EXPECT_EQ(server.open("/api/v1/jobs/" + id + "/events?after=2", "Last-Event-ID: 4\r\n").next().id, 5);
  EXPECT_EQ(server.get("/api/v1/jobs/" + id + "/events", "Last-Event-ID: x\r\n").status, 400);
  EXPECT_EQ(server.get("/api/v1/jobs/" + id + "/events?after=-1").status, 400);
}

TEST(EventRoutes, JoiningARunInFullSwingMissesNothing) {
  Streaming server;
  const std::string id = server.make_job();
  constexpr int kEvents = 500;
  std::jthread run([&] {
    for (int i = 1; i < kEvents; ++i) server.say(id, i);
    server.jobs.end(id, Reason::completed);
  });
  std::vector<Stream> streams;
  for (int i = 0; i < 8; ++i) streams.push_back(server.open("/api/v1/jobs/" + id + "/events"));
  for (Stream& stream : streams) {
    for (int i = 1; i <= kEvents; ++i) ASSERT_EQ(stream.next().id, i);
    EXPECT_EQ(stream.next().name, "end");
  }
}

TEST(EventRoutes, AnEndedRunIsReplayedAndThenNotReconnectedTo) {
  Streaming server;
  const std::string id = server.make_job();
  server.say(id, 1);
  server.jobs.end(id, Reason::cancelled);
  Stream stream = server.open("/api/v1/jobs/" + id + "/runs/1/events");
  EXPECT_EQ(stream.next().id, 1);
  EXPECT_EQ(stream.next().id, 2);
  EXPECT_EQ(stream.next().name, "end");
  EXPECT_TRUE(stream.closes());
  EXPECT_EQ(server.get("/api/v1/jobs/" + id + "/events", "Last-Event-ID: 2\r\n").status, 204);
  EXPECT_EQ(server.open("/api/v1/jobs/" + id + "/events", "Last-Event-ID: 1\r\n").next().id, 2);
}

TEST(EventRoutes, AStreamStaysWithItsRun) {
  Streaming server;
  const std::string id = server.make_job();
  server.jobs.end(id, Reason::verify_failed);
  server.jobs.new_run({}, id, {});
  server.say(id, 7);
  Stream second = server.open("/api/v1/jobs/" + id + "/events");
  EXPECT_EQ(second.next().data.at("run"), 2);
  Stream first = server.open("/api/v1/jobs/" + id + "/runs/1/events");
  EXPECT_EQ(first.next().data.at("run"), 1);
  EXPECT_EQ(first.next().name, "end");
}

TEST(EventRoutes, WhatDoesNotExistHasNoStream) {
  Streaming server;
  EXPECT_EQ(server.get("/api/v1/jobs/zzzzzz/events").status, 404);
  const std::string id = server.make_job();
  EXPECT_EQ(server.get("/api/v1/jobs/" + id + "/runs/2/events").status, 404);
}

TEST(EventRoutes, OneStreamCarriesAllJobs) {
  Streaming server;
  const std::string first = server.make_job();
  const std::string second = server.make_job();
  server.say(first, 1);
  Stream stream = server.open("/api/v1/events");
  server.await_streams(1);
  server.say(first, 2);
  server.say(second, 1);
  const Seen one = stream.next();
  EXPECT_EQ(one.data.at("job"), first);
  EXPECT_EQ(one.data.at("seq"), 2);
  const Seen two = stream.next();
  EXPECT_EQ(two.data.at("job"), second);
  EXPECT_EQ(two.id, one.id + 1);
  Stream resumed = server.open("/api/v1/events", "Last-Event-ID: " + std::to_string(one.id) + "\r\n");
  EXPECT_EQ(resumed.next().id, two.id);
}

TEST(EventRoutes, TheStreamOfAllJobsTellsOfReviews) {
  Streaming server;
  const std::string id = server.make_job();
  server.jobs.end(id, Reason::completed);
  server.reviews.put(test::sample_review(JobId(id), 1));
  Stream all = server.open("/api/v1/events");
  server.await_streams(1);
  const std::string path = "/api/v1/jobs/" + id + "/review";
  EXPECT_EQ(server.send("PATCH", path, R"({"viewed": [{"path": "tool.sh", "viewed": true}]})").status, 200) << "nobody else's business";
  EXPECT_EQ(server.send("PATCH", path, R"({"summary": "No."})", "If-Match: 3\r\n").status, 200);
  EXPECT_EQ(server.send("POST", path + "/dismiss", R"({"revision": 4})").status, 200);
  const Seen edited = all.next();
  EXPECT_EQ(edited.name, "");
  EXPECT_EQ(edited.data, (json{{"job", id}, {"type", "review"}, {"run", 1}, {"revision", 4}, {"status", "waiting"}}));
  const Seen dismissed = all.next();
  EXPECT_EQ(dismissed.id, edited.id + 1);
  EXPECT_EQ(dismissed.data.at("status"), "dismissed");
  Stream resumed = server.open("/api/v1/events", "Last-Event-ID: " + std::to_string(edited.id) + "\r\n");
  EXPECT_EQ(resumed.next().data, dismissed.data);
}

TEST(EventRoutes, TheStreamOfAllJobsTellsOfAJobWithoutARun) {
  Streaming server;
  Stream all = server.open("/api/v1/events");
  server.await_streams(1);
  const auto made = server.send("POST", "/api/v1/jobs", R"({"repository": "/r", "task": "t", "start": false})");
  EXPECT_EQ(all.next().data, (json{{"job", json::parse(made.body).at("id")}, {"type", "created"}}));
}

TEST(EventRoutes, ReviewsOfManyThreadsMissNothing) {
  Streaming server;
  const std::string id = server.make_job();
  server.reviews.put(test::sample_review(JobId(id), 1));
  Stream all = server.open("/api/v1/events");
  server.await_streams(1);
  constexpr int kEach = 200;
  const auto comment = [&] {
    for (int i = 0; i < kEach; ++i)
      server.reviews.add_comment({.name = "ada"}, id, 1, {.path = "tool.sh", .quote = {}, .body = "b", .suggestion = {}}, Stop());
  };
  const auto talk = [&] {
    for (int i = 0; i < kEach; ++i) server.say(id, i);
  };
  {
    const std::jthread first(comment);
    const std::jthread second(talk);
  }
  std::int64_t last = all.next().id;
  for (int i = 1; i < 2 * kEach; ++i) ASSERT_EQ(all.next().id, ++last);
}

TEST(EventRoutes, AStreamOfAllJobsSaysWhenEventsAreLost) {
  Streaming server;
  const std::string id = server.make_job();
  for (std::size_t i = 0; i <= RecentEvents::kEvents; ++i) server.say(id, 0);
  Stream late = server.open("/api/v1/events", "Last-Event-ID: 5\r\n");
  const Seen reset = late.next();
  EXPECT_EQ(reset.name, "reset");
  Stream stream = server.open("/api/v1/events", "Last-Event-ID: " + std::to_string(reset.id) + "\r\n");
  server.await_streams(2);
  server.say(id, 1);
  EXPECT_EQ(stream.next().id, reset.id + 1);
}

TEST(EventRoutes, RevokingATokenEndsItsStreams) {
  Streaming server;
  const std::string id = server.make_job();
  server.say(id, 1);
  const std::string secret = issue_token(server.access, "ada", Role::viewer).secret;
  Stream stream(RawClient::tcp(server.port), "/api/v1/jobs/" + id + "/events", "Authorization: Bearer " + secret + "\r\n");
  EXPECT_EQ(stream.next().id, 1);
  EXPECT_EQ(server.send("DELETE", "/api/v1/tokens/ada", "").status, 200);
  EXPECT_TRUE(stream.closes());
}

TEST(EventRoutes, ASlowReaderGetsEverythingInTheEnd) {
  Streaming server(test_options(), {.ring_bytes = 8192});
  const std::string id = server.make_job();
  Stream stream = server.open("/api/v1/jobs/" + id + "/events");
  const std::string text(3000, 'x');
  for (int i = 1; i <= 300; ++i) server.jobs.happen(id, TraceType::text, json{{"text", text}}.dump());
  server.jobs.end(id, Reason::completed);
  for (int i = 1; i <= 301; ++i) ASSERT_EQ(stream.next().id, i);
  EXPECT_EQ(stream.next().name, "end");
}

TEST(EventRoutes, AReaderThatTakesNothingIsDroppedAndCounted) {
  Streaming server(test_options(), {.ring_bytes = 8192, .stall = milliseconds(40)});
  const std::string id = server.make_job();
  Stream stream = server.open("/api/v1/jobs/" + id + "/events");
  server.await_streams(1);
  for (int i = 1; i <= 300; ++i) server.jobs.happen(id, TraceType::text, json{{"text", std::string(3000, 'x')}}.dump());
  server.await_streams(0);
  EXPECT_THAT(server.get("/metrics").body, HasSubstr("forge_http_event_streams_dropped 1\n"));
}

TEST(RecentEvents, NumbersGrowAcrossProcesses) {
  RecentEvents earlier(1000);
  RecentEvents later(1001);
  EXPECT_LT(earlier.add("x").seq, later.add("x").seq);
  EXPECT_EQ(later.after(earlier.last_seq()).events.at(0).name, "reset");
  EXPECT_EQ(earlier.after(later.last_seq()).events.at(0).name, "reset");
}

TEST(RecentEvents, KeepsAsManyBytesAsItMay) {
  RecentEvents recent(1000);
  const std::int64_t first = recent.add(std::string(RecentEvents::kBytes, 'x')).seq;
  EXPECT_EQ(recent.after(first - 1).events.size(), 1U);
  recent.add("y");
  EXPECT_EQ(recent.after(first - 1).events.at(0).name, "reset");
  EXPECT_EQ(recent.after(first).events.at(0).data, "y");
}

}  // namespace
}  // namespace forge::http
