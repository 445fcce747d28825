#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/soon.h"
#include "tests/unit/httpd/test_site.h"

namespace forge::httpd {
namespace {

using test::get_request;
using test::RawClient;
using testing::HasSubstr;
using testing::Not;

ServerOptions leaving_options() {
  ServerOptions options;
  options.stop_when_client_leaves = true;
  return options;
}

/// A route whose answer is a relay.
void add_relay(TestSite& site, const std::string& pattern, std::function<void(AnswerWriter&, const Stop&)> relay) {
  site.add(Method::get, pattern, [relay = std::move(relay)](const Request&, const Stop&) {
    Response response;
    response.relay = relay;
    return response;
  });
}

TEST(Relay, TellsTheHeadItIsGivenAndThenThePieces) {
  TestServer server;
  add_relay(server.site, "/relay", [](AnswerWriter& answer, const Stop&) {
    answer.head(418, {{"X-Passed", "on"}});
    for (const char* piece : {"one,", "", "two"}) answer.write(piece);
  });
  RawClient client = server.client();
  for (int i = 0; i < 2; ++i) {  // the connection is kept
    const auto response = client.ask(get_request("/relay"));
    EXPECT_EQ(response.status, 418);
    EXPECT_EQ(response.header("x-passed"), "on");
    EXPECT_EQ(response.body, "one,two");
  }
}

TEST(Relay, IsAnsweredLikeAHandlerWhenItFailsBeforeItsHead) {
  TestServer server;
  add_relay(server.site, "/early", [](AnswerWriter&, const Stop&) { throw Error(ErrorCode::permission_denied, "no"); });
  add_relay(server.site, "/none", [](AnswerWriter&, const Stop&) {});
  add_relay(server.site, "/headless", [](AnswerWriter& answer, const Stop&) { answer.write("x"); });
  add_relay(server.site, "/bad", [](AnswerWriter& answer, const Stop&) { answer.head(200, {{"X", "a\r\nY: b"}}); });
  EXPECT_EQ(server.client().ask(get_request("/early")).status, 403);
  for (const char* path : {"/none", "/headless", "/bad"}) EXPECT_EQ(server.client().ask(get_request(path)).status, 500) << path;
}

TEST(Relay, IsCutOffWhenItFailsLater) {
  TestServer server;
  add_relay(server.site, "/late", [](AnswerWriter& answer, const Stop&) {
    answer.head(200, {});
    answer.write("half");
    throw Error(ErrorCode::unavailable, "gone");
  });
  RawClient client = server.client();
  client.send(get_request("/late"));
  const std::string all = client.read_to_end();
  EXPECT_THAT(all, HasSubstr("half"));
  EXPECT_THAT(all, Not(HasSubstr("\r\n0\r\n\r\n")));
}

TEST(ClientThatLeaves, StopsItsHandlerWhereTheServerIsToldTo) {
  TestServer server(leaving_options());
  Guarded<bool> stopped;
  server.site.add(Method::get, "/wait", [&](const Request&, const Stop& stop) -> Response {
    try {
      forge::pause(std::chrono::hours(1), stop);
    } catch (const Error& e) {
      auto flag = stopped.lock();
      *flag = e.code() == ErrorCode::cancelled;
      flag.notify_all();
      throw;
    }
    return no_content();
  });
  server.client().send(get_request("/wait"));  // and closes
  const Stop stop = test::soon();
  EXPECT_TRUE(stopped.lock().wait_until(stop.token(), stop.deadline(), [](bool is) { return is; }));
}

TEST(ClientThatLeaves, DoesNotDisturbTheNextOnesOnTheSameDescriptor) {
  TestServer server(leaving_options());
  for (int i = 0; i < 200; ++i) {
    server.client().send(get_request("/hello"));  // leaves at once
    EXPECT_EQ(server.client().ask(get_request("/hello")).status, 200);
  }
}

TEST(SiteOfItsOwnErrors, AnswersWhatNoRouteDoes) {
  auto log = make_null_log();
  struct Other final : Site {
    Other() {
      routes.add({.method = Method::get,
                  .pattern = "/known",
                  .access = Access::open(),
                  .handler = [](const Request& request, const Stop&) { return text_response(200, "text/plain", request.target); },
                  .any_query = true});
      routes.otherwise([](const Request&, const Stop&) { return text_response(404, "text/plain", "mine"); });
    }
    const Router& router() const override { return routes; }
    void screen(const Request&) override {}
    void admit(Request&, const Route&) override {}
    Response failure(const Request&, const std::exception&) noexcept override { return text_response(500, "text/plain", "failed"); }
    void served(const Served&) override {}
    Router routes;
  } site;
  Server server({}, site, *log);
  Listener listener = listen_tcp("127.0.0.1:0");
  const std::string address = bound_address(listener);
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  server.add_listener(std::move(listener));
  EXPECT_EQ(RawClient::tcp(port).ask(get_request("/known?a=1&a=2&b")).body, "/known?a=1&a=2&b");
  EXPECT_EQ(RawClient::tcp(port).ask(get_request("/unknown")).body, "mine");
  EXPECT_EQ(RawClient::tcp(port).ask(test::body_request("POST", "/known", "a body")).body, "mine") << "another method";
}

}  // namespace
}  // namespace forge::httpd
