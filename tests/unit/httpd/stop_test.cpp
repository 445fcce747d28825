#include <gmock/gmock.h>

#include <thread>

#include "tests/unit/httpd/stored_events.h"
#include "tests/unit/httpd/test_site.h"

namespace forge::httpd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::get_request;
using test::RawClient;
using test::RawResponse;
using testing::HasSubstr;

void add_stream_route(TestSite& site, Stored& stored) {
  site.add(Method::get, "/stream", [&stored](const Request&, const Stop&) {
    return event_stream({.topic = "t", .after = 0, .source = std::make_unique<StoredSource>(stored), .tags = {}});
  });
}

TEST(Streams, LeaveTheirThreadForTheHub) {
  Stored stored;
  TestServer server({.threads = 1});
  add_stream_route(server.site, stored);
  std::vector<RawClient> streams;
  for (int i = 0; i < 20; ++i) {
    streams.push_back(server.client());
    streams.back().send(get_request("/stream"));
    const std::string head = streams.back().read_to("\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
    EXPECT_EQ(streams.back().read_to(":\n\n"), "retry: 2000\n:\n\n");
  }
  const Stop patience = Stop::after(seconds(50));
  while (server.hub.size() != 20) pause(milliseconds(1), patience);
  EXPECT_EQ(server.client().ask(get_request("/hello")).body, "hello");
  server.hub.publish("t", stored.add("news"));
  for (RawClient& stream : streams) EXPECT_EQ(stream.read_to("\n\n"), "id: 1\ndata: news\n\n");
}

TEST(Streams, OverTheCapAreToldSo) {
  Stored stored;
  TestServer server({}, {.max_streams = 1});
  add_stream_route(server.site, stored);
  RawClient first = server.client();
  first.send(get_request("/stream"));
  first.read_to(":\n\n");
  const Stop patience = Stop::after(seconds(50));
  while (server.hub.has_room()) pause(milliseconds(1), patience);
  EXPECT_EQ(server.client().ask(get_request("/stream")).status, 503);
}

TEST(Streams, HeadTellsTheTypeAndOpensNone) {
  Stored stored;
  TestServer server;
  add_stream_route(server.site, stored);
  RawClient client = server.client();
  EXPECT_EQ(client.ask("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n", true).header("content-type"), "text/event-stream");
  EXPECT_EQ(server.hub.size(), 0U);
}

TEST(Stopping, AnswersWhatIsUnderWayAndTakesNothingNew) {
  TestServer server;
  RawClient working = server.client();
  RawClient idle = server.client();
  idle.ask(get_request("/hello"));
  working.send(get_request("/gate"));
  server.site.gate.await(1);
  std::jthread stopping([&] { server.server.stop(Stop::after(seconds(50))); });
  EXPECT_TRUE(idle.closes());
  server.site.gate.open();
  EXPECT_EQ(working.read_response().body, "through");
  EXPECT_TRUE(working.closes());
  stopping.join();
  EXPECT_THROW(server.client(), Error);
}

TEST(Stopping, EndsStreamsWithAFinalEvent) {
  Stored stored;
  TestServer server;
  add_stream_route(server.site, stored);
  RawClient stream = server.client();
  stream.send(get_request("/stream"));
  stream.read_to(":\n\n");
  const Stop patience = Stop::after(seconds(50));
  while (server.hub.size() != 1) pause(milliseconds(1), patience);
  server.server.stop(Stop::after(seconds(50)));
  EXPECT_EQ(stream.read_to_end(), "event: shutdown\ndata: {}\n\n");
}

TEST(Stopping, CutsAHandlerThatDoesNotEnd) {
  TestServer server;
  RawClient working = server.client();
  working.send(get_request("/gate"));
  server.site.gate.await(1);
  server.server.stop(Stop::after(milliseconds(20)));
  EXPECT_NE(working.read_response().status, 200);
}

TEST(Stopping, WaitsForAClientThatReadsSlowly) {
  TestServer server;
  RawClient client = server.client();
  client.send(get_request("/large"));
  client.read_to("\r\n\r\n");
  RawClient other = server.client();
  other.ask(get_request("/hello"));
  const std::jthread stopping([&] { server.server.stop(Stop::after(seconds(8))); });
  EXPECT_TRUE(other.closes());  // idle connections are closed when the end begins
  EXPECT_EQ(client.read_to_end().size(), 8U << 20);
}

TEST(Stopping, CutsAClientThatDoesNotRead) {
  TestServer server;
  RawClient client = server.client();
  client.send(get_request("/large"));
  client.read_to("\r\n\r\n");
  server.server.stop(Stop::after(milliseconds(20)));
}

TEST(Stopping, TwiceIsHarmless) {
  TestServer server;
  server.server.stop(Stop::after(seconds(1)));
  server.server.stop(Stop::after(seconds(1)));
}

}  // namespace
}  // namespace forge::httpd
