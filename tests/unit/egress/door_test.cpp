#include "orchestrator/egress/door.h"

#include <algorithm>
#include <future>
#include <set>
#include <thread>

#include "orchestrator/models/cassette.h"
#include "tests/unit/egress/door_fixture.h"

namespace forge::egress {
namespace {

using test::RawResponse;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t kAnswerCost = 100 * 1000 + 10 * 5000 + 1000 * 100 + 8 * 1250;

TEST_F(DoorTest, AnswersExactlyItsPaths) {
  open();
  EXPECT_EQ(client().ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", true).status, 200);
  EXPECT_EQ(ask(body()).status, 200);
  for (const char* request : {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n",
                              "GET /v1/other HTTP/1.1\r\nHost: x\r\n\r\n", "DELETE /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    const RawResponse other = client().ask(request);
    EXPECT_EQ(other.status, 404) << request;
    EXPECT_THAT(other.body, HasSubstr(R"("type":"not_found_error")")) << request;
    EXPECT_EQ(other.header("content-type"), "application/json") << request;
  }
  EXPECT_EQ(ask("{}", "/v1/messages/count_tokens").status, 404);
}

TEST_F(DoorTest, PassesBodyQueryAndUnknownHeadersOn) {
  headers_ = {{"X-Team", "seven-team"}, {"anthropic-beta", "of-the-operator"}};
  open();
  ask(body(), "/v1/messages?beta=true&x=%20a",
      "anthropic-beta: one-2025\r\nanthropic-beta: two\r\nOpenAI-Organization: inside\r\nOpenAI-Project: inside\r\nX-Unknown: "
      "kept\r\nx-team: forged\r\nUser-Agent: "
      "cli/1\r\nAccept-Encoding: gzip, br\r\n"
      "Authorization: Bearer inside-token-0123456789\r\nx-api-key: inside\r\nConnection: x-hop\r\nConnection: x-hop2\r\nx-hop: "
      "1\r\nx-hop2: 1\r\nCookie: c=1\r\nTE: "
      "trailers\r\n");
  ASSERT_THAT(server_->requests(), SizeIs(1));
  const test::SeenRequest seen = server_->requests()[0];
  EXPECT_EQ(seen.body, body());
  EXPECT_EQ(seen.target, "/v1/messages?beta=true&x=%20a");
  EXPECT_EQ(seen.header("anthropic-beta"), "one-2025,two,of-the-operator");
  EXPECT_EQ(seen.header("x-unknown"), "kept");
  EXPECT_EQ(seen.header("user-agent"), "cli/1");
  EXPECT_EQ(seen.header("x-team"), "seven-team");
  EXPECT_EQ(seen.header("accept-encoding"), "identity");
  EXPECT_EQ(seen.header("x-api-key"), kCanary);
  EXPECT_EQ(seen.header("anthropic-version"), "2023-06-01");
  for (const auto& [name, value] : seen.headers) {
    EXPECT_THAT((std::set<std::string>{"authorization", "x-hop", "x-hop2", "cookie", "te", "connection", "openai-organization"}),
                Not(testing::Contains(name)));
    EXPECT_THAT(value, Not(HasSubstr("inside")));
  }
}

TEST_F(DoorTest, PassesStreamsOnByteForByte) {
  script(
      R"([{"thinking": "Grüße", "text": "😀 and more", "tools": [{"name": "bash", "raw_input": "{\"a\": "}], "usage": {"input": 1, "output": 2}}])");
  for (const char* fault : {"drip", "crlf", "repeat_usage", "split_at=1", "split_at=97", "split_at=301"}) {
    test::ModelFaults faults;
    faults.set(fault);
    server_->set_faults(faults);
    open();
    const RawResponse direct = test::RawClient::tcp(server_->port()).ask(test::body_request("POST", "/v1/messages", body()));
    const RawResponse passed = ask(body());
    EXPECT_EQ(passed.status, 200);
    EXPECT_EQ(passed.body, direct.body) << fault;
    EXPECT_EQ(passed.header("content-type"), direct.header("content-type"));
    EXPECT_THAT(passed.header("request-id"), Not(IsEmpty()));
  }
}

TEST_F(DoorTest, DoesNotHoldBackWhatHasCome) {
  script(R"([{"text": "hi", "usage": {"input": 100, "output": 10}}])");
  open();
  server_->fault_once({.hang = true});  // after the first event
  test::RawClient waiting = client();
  waiting.send(test::body_request("POST", "/v1/messages", body()));
  EXPECT_THAT(waiting.read_to("\n\n"), HasSubstr("message_start"));
}

TEST_F(DoorTest, MetersEachAnswerToTheToken) {
  script(
      R"([{"text": "hi", "tools": [{"name": "bash", "input": {}}], "usage": {"input": 100, "output": 10, "cache_read": 1000, "cache_write": 8}}])");
  ModelDoor& door = open();
  EXPECT_EQ(door.model_name(), "large");
  const RawResponse answer = ask(body());
  EXPECT_EQ(door.requests(), 1);
  EXPECT_FALSE(door.closed());
  close();
  const auto rows = store_->usage_of_run(run_.id);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].model, "ant/large");
  EXPECT_EQ(rows[0].usage, (Usage{100, 10, 1000, 8}));
  EXPECT_EQ(rows[0].cost_nano_usd, kAnswerCost);
  ASSERT_THAT(trace_.of<trace::Model>(), SizeIs(1));
  const auto event = trace_.of<trace::Model>()[0];
  EXPECT_EQ(event.request_id, answer.header("request-id"));
  EXPECT_EQ(event.stop_reason, "tool_use");
  EXPECT_EQ(event.cost_nano_usd, kAnswerCost);
  EXPECT_FALSE(event.usage_estimated);
  EXPECT_EQ(event.request.text, body());
  EXPECT_EQ(event.response.text, answer.body);
  EXPECT_GT(trace_.alive_calls(), 0);
}

TEST_F(DoorTest, MetersTheOtherFormatsAndWholeAnswers) {
  script(R"([{"text": "hi", "usage": {"input": 100, "output": 10, "cache_read": 1000, "cache_write": 8}}])");
  spec_.model = "oai/chat";
  open();
  EXPECT_EQ(ask(body("chat"), "/v1/chat/completions").status, 200);
  EXPECT_EQ(server_->requests().back().header("authorization"), std::string("Bearer ") + kCanary);
  EXPECT_EQ(server_->requests().back().target, "/v1/chat/completions");
  const std::string responses =
      "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\n"
      "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"usage\":"
      "{\"input_tokens\":1100,\"input_tokens_details\":{\"cached_tokens\":1000},\"output_tokens\":7}}}\n\n";
  server_->stream_once(responses);
  EXPECT_EQ(ask(body("chat"), "/v1/responses").body, responses);
  EXPECT_EQ(server_->requests().back().target, "/v1/responses");
  const std::string whole =
      R"({"id":"c","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6}})";
  server_->answer_once(test::http_answer(200, whole, "Content-Type: application/json\r\n"));
  EXPECT_EQ(ask(body("chat"), "/v1/chat/completions").body, whole);
  close();
  const auto events = trace_.of<trace::Model>();
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[0].usage, (Usage{100, 10, 1000, 8}));
  EXPECT_EQ(events[1].usage, (Usage{100, 7, 1000, 0}));
  EXPECT_EQ(events[2].usage, (Usage{5, 6, 0, 0}));
  for (const auto& event : events) EXPECT_FALSE(event.usage_estimated);
}

TEST_F(DoorTest, MetersAMessageThatDoesNotStream) {
  open();
  const std::string whole =
      R"({"id":"m","type":"message","role":"assistant","model":"large","content":[{"type":"text","text":"hi"}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":4,"cache_read_input_tokens":5}})";
  server_->answer_once(test::http_answer(200, whole, "Content-Type: application/json\r\n"));
  EXPECT_EQ(ask(body()).body, whole);
  close();
  ASSERT_THAT(trace_.of<trace::Model>(), SizeIs(1));
  EXPECT_EQ(trace_.of<trace::Model>()[0].usage, (Usage{3, 4, 5, 0}));
  EXPECT_EQ(trace_.of<trace::Model>()[0].stop_reason, "max_tokens");
}

TEST_F(DoorTest, PricesWhatWasWrittenIntoTheCacheForAnHour) {
  open();
  const std::string whole =
      R"({"id":"m","type":"message","role":"assistant","model":"large","content":[],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}})";
  server_->answer_once(test::http_answer(200, whole, "Content-Type: application/json\r\n"));
  EXPECT_EQ(ask(body()).status, 200);
  close();
  EXPECT_EQ(store_->usage_of_run(run_.id).at(0).usage, (Usage{3, 4, 0, 30}));
  EXPECT_EQ(store_->usage_of_run(run_.id).at(0).cost_nano_usd, 3 * 1000 + 4 * 5000 + 10 * 1250 + 20 * 2000);
}

TEST_F(DoorTest, GuessesWhatAnAnswerWithoutCountsCost) {
  spec_.model = "oai/chat";
  open();
  server_->set_faults({.refuse_stream_options = true});  // tells no counts
  EXPECT_EQ(ask(body("chat"), "/v1/chat/completions").status, 200);
  close();
  const auto event = trace_.of<trace::Model>().at(0);
  EXPECT_TRUE(event.usage_estimated);
  EXPECT_EQ(event.usage.input, static_cast<std::int64_t>(body("chat").size() / 4));
}

TEST_F(DoorTest, PassesOnAnErrorInsideAStreamAndCountsWhatWasBilled) {
  script(R"([{"text": "a long answer that is cut off", "usage": {"input": 100, "output": 50}}])");
  open();
  server_->fault_once({.error_after = 5});
  const RawResponse answer = ask(body());
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("overloaded_error"));
  close();
  const auto event = trace_.of<trace::Model>().at(0);
  EXPECT_EQ(event.stop_reason, "dropped");
  EXPECT_TRUE(event.usage_estimated);
  EXPECT_EQ(event.usage.input, 100);
  EXPECT_GE(event.usage.output, 1);
  EXPECT_EQ(store_->usage_of_run(run_.id).at(0).usage, event.usage);
}

TEST_F(DoorTest, PassesOnACutAsACut) {
  open();
  server_->fault_once({.reset = true});
  test::RawClient cut = client();
  cut.send(test::body_request("POST", "/v1/messages", body()));
  const std::string all = cut.read_to_end();
  EXPECT_THAT(all, HasSubstr("message_start"));
  EXPECT_THAT(all, Not(HasSubstr("\r\n0\r\n\r\n"))) << "the last chunk would make a cut answer look whole";
  close();
  EXPECT_EQ(trace_.of<trace::Model>().at(0).stop_reason, "dropped");
  EXPECT_EQ(store_->usage_of_run(run_.id).at(0).usage.input, 100);
}

TEST_F(DoorTest, PassesErrorsOnThatMayGetBetter) {
  script(R"([{"error": {"status": 429, "retry_after_s": 7, "times": 1}, "text": "hi"}])");
  ModelDoor& door = open();
  const RawResponse limited = ask(body());
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.header("retry-after"), "7");
  EXPECT_THAT(limited.body, HasSubstr("rate_limit_error"));
  EXPECT_FALSE(door.closed());
  EXPECT_EQ(ask(body()).status, 200);
  EXPECT_EQ(door.requests(), 2);
  close();
  ASSERT_THAT(trace_.of<trace::Model>(), SizeIs(2));
  EXPECT_EQ(trace_.of<trace::Model>()[0].status, 429);
  EXPECT_EQ(trace_.of<trace::Model>()[0].cost_nano_usd, 0) << "an error costs nothing: that is no unknown price";
  EXPECT_EQ(trace_.of<trace::Model>()[0].stop_reason, "error");
  EXPECT_EQ(store_->usage_of_run(run_.id).at(0).requests, 1) << "an error has no usage row";
}

TEST_F(DoorTest, ClosesWhenTheProviderRefusesTheKey) {
  for (const int status : {401, 403}) {
    script(R"([{"error": {"status": )" + std::to_string(status) + "}}]");
    ModelDoor& door = open();
    const RawResponse refused = ask(body());
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.header("x-should-retry"), "false");
    EXPECT_THAT(refused.body, HasSubstr(R"("type":"permission_error")"));
    EXPECT_THAT(refused.body, Not(HasSubstr("scripted error"))) << "the provider's words stay outside";
    ASSERT_TRUE(door.closed());
    EXPECT_EQ(door.closed()->reason, Reason::auth_error);
    EXPECT_THAT(door.closed()->text, HasSubstr("ant answered " + std::to_string(status)));
    EXPECT_EQ(ask(body()).status, 403);
    EXPECT_THAT(server_->requests(), SizeIs(1)) << "nothing is asked any more";
  }
}

TEST_F(DoorTest, StaysOpenWhenOnlyAHelperModelIsRefused) {
  options_.allowed = {"ant/small"};
  script(R"([{"error": {"status": 403, "times": 1}, "text": "hi"}])");
  ModelDoor& door = open();
  const RawResponse refused = ask(body("small"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.header("x-should-retry"), "false");
  EXPECT_THAT(refused.body, HasSubstr("the provider of 'small' refuses it"));
  EXPECT_FALSE(door.closed());
  EXPECT_EQ(ask(body()).status, 200);
}

TEST_F(DoorTest, ClosesWhenABudgetIsSpent) {
  spec_.budget_nano_usd = 2 * kAnswerCost;
  ModelDoor& door = open();
  EXPECT_EQ(ask(body()).status, 200);
  EXPECT_EQ(ask(body()).status, 200);
  const RawResponse spent = ask(body());
  EXPECT_EQ(spent.status, 403);
  EXPECT_EQ(spent.header("x-should-retry"), "false");
  EXPECT_THAT(spent.body, HasSubstr("the budget of the run is spent"));
  EXPECT_EQ(door.closed()->reason, Reason::budget_exhausted);
  EXPECT_THAT(server_->requests(), SizeIs(2));
  close();
  EXPECT_THAT(trace_.of<trace::Budget>(), SizeIs(2)) << "warned and stopped";
}

TEST_F(DoorTest, PassesABudgetByOneAnswerHoweverManyAreAskedForAtOnce) {
  constexpr int kAtOnce = 60;
  spec_.budget_nano_usd = kAnswerCost / 100;
  ModelDoor& door = open();
  std::promise<void> answers;
  server_->on_request([held = answers.get_future().share()](const auto&) { held.wait(); });
  std::vector<int> statuses(kAtOnce);
  {
    std::vector<std::jthread> clients;
    const std::shared_ptr<void> let(nullptr, [&](void*) { answers.set_value(); });  // also when the wait fails
    for (int& status : statuses) clients.emplace_back([&] { EXPECT_EQ(test::code_of([&] { status = ask(body()).status; }), "none"); });
    const Stop stop = test::soon();
    while (gateway_->waiting_requests() != kAtOnce - 1) forge::pause(std::chrono::milliseconds(5), stop);
  }
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 200), 1);
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 403), kAtOnce - 1);
  EXPECT_EQ(door.closed()->reason, Reason::budget_exhausted);
  close();
  EXPECT_EQ(store_->run(job_.id, 1)->cost_nano_usd, kAnswerCost);
  EXPECT_THAT(trace_.of<trace::Budget>(), SizeIs(2)) << "warned and stopped, once each";
}

TEST_F(DoorTest, GoesOnWithWhatWaitedWhenTheRequestBeforeItBreaksOff) {
  spec_.budget_nano_usd = 3 * kAnswerCost;
  open();
  const std::string large = R"({"max_tokens": 1000, "model": "large", "stream": true, "messages": [{"role": "user", "content": "hello"}]})";
  server_->fault_once({.hang = true});  // after the first event
  test::RawClient waiting = client();
  {
    test::RawClient leaving = client();
    leaving.send(test::body_request("POST", "/v1/messages", large));
    leaving.read_to("message_start");
    waiting.send(test::body_request("POST", "/v1/messages", large));
    const Stop stop = test::soon();
    while (gateway_->waiting_requests() != 1) forge::pause(std::chrono::milliseconds(5), stop);
  }
  EXPECT_EQ(waiting.read_response().status, 200);
}

// The sums of a job and of a day come from the store, which may be behind the answers.
TEST_F(DoorTest, CountsWhatIsNotYetStored) {
  options_.job_nano_usd = 3 * kAnswerCost;
  open();
  test::RawClient one = client();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(one.ask(test::body_request("POST", "/v1/messages", body())).status, 200) << i;
  EXPECT_EQ(one.ask(test::body_request("POST", "/v1/messages", body())).status, 403);
}

TEST_F(DoorTest, KnowsTheJobsModelItsAliasesAndWhatIsAllowedBeside) {
  options_.aliases = {{"claude-helper", "ant/small"}, {"claude-main", "large"}, {"other", "ant/forbidden"}};
  options_.allowed = {"ant/small", "nobody/model"};
  ModelDoor& door = open();
  for (const auto& [asked, sent] : {std::pair{"large", "large"}, std::pair{"ant/large", "large"}, std::pair{"claude-main", "large"},
                                    std::pair{"small", "small"}, std::pair{"claude-helper", "small"}}) {
    EXPECT_EQ(ask(body(asked)).status, 200) << asked;
    EXPECT_EQ(server_->requests().back().body, body(sent)) << asked;
  }
  for (const char* asked : {"other", "forbidden", "ant/forbidden", "chat", ""}) {
    const RawResponse refused = ask(body(asked));
    EXPECT_EQ(refused.status, 404) << asked;
    EXPECT_THAT(refused.body, HasSubstr("there is: large, ant/large, small, ant/small, claude-helper, claude-main"));
    EXPECT_EQ(refused.header("x-should-retry"), "false");
  }
  EXPECT_FALSE(door.closed());
  EXPECT_THAT(client().ask(test::get_request("/v1/models?limit=1000")).body, HasSubstr(R"("id":"claude-helper")"));
  close();
  const auto rows = store_->usage_of_run(run_.id);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].cost_nano_usd, 3 * kAnswerCost);
  EXPECT_EQ(rows[1].cost_nano_usd, 2 * kAnswerCost / 10) << "each model has its own price";
}

TEST_F(DoorTest, AllowsNoModelWithoutAPriceUnderABudget) {
  options_.allowed = {"ant/unpriced"};
  open();
  EXPECT_EQ(ask(body("unpriced")).status, 200);
  spec_.budget_nano_usd = 1'000'000'000;
  open();
  EXPECT_EQ(ask(body("unpriced")).status, 404);
  EXPECT_EQ(ask(body()).status, 200);
}

TEST_F(DoorTest, RefusesAFormatThatTheModelDoesNotSpeak) {
  ModelDoor& door = open();
  EXPECT_EQ(ask(body(), "/v1/chat/completions").status, 404);
  EXPECT_FALSE(door.closed());
  EXPECT_EQ(test::error_of([&] { gateway_->check_door(spec_, models::WireFormat::openai); })->field(), "model");
  gateway_->check_door(spec_, models::WireFormat::anthropic);
}

TEST_F(DoorTest, RefusesBodiesThatAreNone) {
  open();
  for (const char* wrong : {"", "{", "[1]", R"({"model":"large","model":"other"})"}) EXPECT_EQ(ask(wrong).status, 400) << wrong;
  EXPECT_THAT(server_->requests(), IsEmpty());
}

TEST_F(DoorTest, TakesABodyUpToItsCapAndNoByteMore) {
  open();
  std::string large = body();
  large.insert(large.size() - 1, kMostDoorBodyBytes - large.size(), ' ');
  ASSERT_EQ(large.size(), kMostDoorBodyBytes);
  EXPECT_EQ(ask(large).status, 200);
  large += ' ';
  EXPECT_EQ(client().ask("POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(large.size()) + "\r\n\r\n").status,
            413);
  close();
  EXPECT_LE(trace_.of<trace::Model>().at(0).request.text.size(), (256U << 10) + 100) << "what is kept has a cap of its own";
}

// One that is inside may open hundreds of connections.
TEST_F(DoorTest, HoldsNoMoreBodiesAtOnceThanFitItsMemory) {
  open();
  const std::string head = "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(kMostDoorBodyBytes) + "\r\n";
  std::vector<test::RawClient> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(client());
    waiting.back().send(head + "Expect: 100-continue\r\n\r\n");
    waiting.back().read_to("100 Continue");
  }
  EXPECT_EQ(client().ask(head + "\r\n").status, 503);
  EXPECT_EQ(ask(body()).status, 503);
  waiting.pop_back();
  const Stop stop = test::soon();
  while (ask(body()).status != 200) forge::pause(std::chrono::milliseconds(5), stop);  // the server hears that the client has left
}

TEST_F(DoorTest, CountsAnAnswerThatItCannotReadByItsLength) {
  open();
  const std::string packed(4000, '\x8b');  // a provider that packs although it was asked not to
  server_->answer_once(test::http_answer(200, packed, "Content-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"));
  EXPECT_EQ(ask(body()).body, packed);
  server_->stream_once("event: message_start\ndata: " + std::string(4000, '[') + "\n\n");
  ask(body());
  close();
  for (const trace::Model& event : trace_.of<trace::Model>()) {
    EXPECT_TRUE(event.usage_estimated);
    EXPECT_GE(event.usage.output, 1000);
  }
  EXPECT_THAT(trace_.of<trace::Model>(), SizeIs(2));
}

TEST_F(DoorTest, BlamesTheProviderForAnAnswerThatIsNoHttp) {
  open();
  server_->answer_once("\x01garbage\r\n\r\n");
  EXPECT_EQ(ask(body()).status, 502);
}

TEST_F(DoorTest, EndsTheCallOfAClientThatLeaves) {
  open();
  server_->set_faults({.hang = true});
  {
    test::RawClient leaving = client();
    leaving.send(test::body_request("POST", "/v1/messages", body()));
    leaving.read_to("message_start");
  }
  // The server's side of the hanging call ends when the gateway drops it; then the answer is counted.
  const Stop stop = test::soon();
  while (trace_.of<trace::Model>().empty()) forge::pause(std::chrono::milliseconds(5), stop);
  EXPECT_EQ(trace_.of<trace::Model>()[0].stop_reason, "dropped");
  EXPECT_EQ(trace_.of<trace::Model>()[0].usage.input, 100);
}

TEST_F(DoorTest, EndsCallsUnderWayWhenItIsClosed) {
  open();
  server_->set_faults({.hang = true});
  test::RawClient waiting = client();
  waiting.send(test::body_request("POST", "/v1/messages", body()));
  waiting.read_to("message_start");
  close();
  EXPECT_THAT(trace_.of<trace::Model>(), SizeIs(1));
}

TEST_F(DoorTest, SaysThatAProviderIsNotThereWithoutSayingWhere) {
  base_url_ = "http://127.0.0.1:1";
  ModelDoor& door = open();
  const RawResponse answer = ask(body());
  EXPECT_EQ(answer.status, 502);
  EXPECT_THAT(answer.body, Not(HasSubstr("127.0.0.1")));
  EXPECT_FALSE(door.closed());
  EXPECT_EQ(door.requests(), 0);
}

TEST_F(DoorTest, FollowsNoRedirect) {
  open();
  server_->answer_once("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  const RawResponse answer = ask(body());
  EXPECT_EQ(answer.status, 502);
  EXPECT_EQ(answer.header("location"), "");
}

TEST_F(DoorTest, ShowsTheKeyToNobody) {
  open();
  const std::string echo = std::string(R"({"type":"error","error":{"type":"invalid_request_error","message":"bad key )") + kCanary + "\"}}";
  const std::string echoing = std::string("Content-Type: application/json\r\nX-Echo: ") + kCanary + "\r\nSet-Cookie: a=b\r\n";
  std::string seen;
  for (const int status : {400, 401, 500}) {
    open();
    server_->answer_once(test::http_answer(status, echo, echoing));
    test::RawClient raw = client();
    raw.send(test::body_request("POST", "/v1/messages", body(), "Connection: close\r\n"));
    seen += raw.read_to_end();
    if (door_->closed()) seen += door_->closed()->text;
  }
  EXPECT_THAT(seen, HasSubstr("[redacted]"));
  EXPECT_THAT(seen, Not(HasSubstr("Set-Cookie")));
  base_url_ = std::string("http://user:") + kCanary + "@127.0.0.1:1";
  open();
  seen += ask(body()).body;
  close();
  for (const auto& event : trace_.of<trace::Model>()) seen += event.request.text + event.response.text + event.request_id;
  seen += log_.text();
  EXPECT_THAT(seen, Not(HasSubstr(kCanary)));
}

TEST_F(DoorTest, PlaysAScriptInBothFormats) {
  const std::string file = (dir_ / "script.json").string();
  test::write_file(
      file,
      R"([{"text": "one", "usage": {"input": 7, "output": 3}}, {"error": {"status": 429, "retry_after_s": 2, "times": 1}, "text": "two"}])");
  spec_.model = "scripted:" + file;
  script(R"([{"text": "one", "usage": {"input": 7, "output": 3}}])");
  ModelDoor& door = open();
  EXPECT_EQ(door.model_name(), "scripted");
  const std::string asked = body("scripted");
  const RawResponse played = ask(asked);
  EXPECT_EQ(played.body, test::RawClient::tcp(server_->port()).ask(test::body_request("POST", "/v1/messages", asked)).body)
      << "as the scripted server plays it";
  EXPECT_THAT(ask(asked, "/v1/chat/completions").body, HasSubstr("[DONE]"));
  const std::string second = R"({"model":"scripted","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"one"}]})";
  const RawResponse limited = ask(second);
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.header("retry-after"), "2");
  EXPECT_THAT(ask(second).body, HasSubstr("two"));
  close();
  EXPECT_EQ(trace_.of<trace::Model>().at(0).model, spec_.model);
  EXPECT_EQ(trace_.of<trace::Model>().at(0).usage, (Usage{7, 3, 0, 0}));
}

TEST_F(DoorTest, IsRecordedAndReplayedByACassetteAndClosesAtAMiss) {
  const models::CassetteOptions tape{.file = (dir_ / "tape.jsonl").string(), .scrubs = {}, .redactor = redactor_};
  const auto recording = models::record_cassette(tape);
  around_ = [&](std::unique_ptr<models::Transport> transport) { return recording->around(std::move(transport)); };
  open();
  const std::string recorded = ask(body()).body;
  close();
  EXPECT_THAT(test::read_file(tape.file), Not(HasSubstr(kCanary)));
  const auto replay = models::replay_cassette(tape);
  around_ = [&](std::unique_ptr<models::Transport> transport) { return replay->around(std::move(transport)); };
  base_url_ = "http://nobody.invalid";
  ModelDoor& door = open();
  EXPECT_EQ(ask(body()).body, recorded);
  const RawResponse miss = ask(R"({"model":"large","messages":[]})");
  EXPECT_EQ(miss.status, 403);
  EXPECT_EQ(miss.header("x-should-retry"), "false");
  EXPECT_EQ(door.closed()->reason, Reason::api_error);
  EXPECT_THAT(door.closed()->text, HasSubstr("one more was asked for"));
  close();
  EXPECT_EQ(store_->usage_of_run(run_.id).at(0).usage, (Usage{100, 10, 1000, 8})) << "a replay is metered like the original";
}

TEST_F(DoorTest, ServesManyAtOnce) {
  constexpr int kAtOnce = 120;
  script(R"([{"text": "a text of some length, so that several events come", "usage": {"input": 1, "output": 1}, "delay_ms": 50}])");
  ModelDoor& door = open();
  const std::string expected = ask(body()).body;
  std::vector<std::string> bodies(kAtOnce);
  {
    std::vector<std::jthread> clients;
    for (std::string& into : bodies) clients.emplace_back([&] { into = ask(body()).body; });
  }
  EXPECT_THAT(bodies, Each(expected));
  EXPECT_EQ(door.requests(), kAtOnce + 1);
  close();
  EXPECT_EQ(store_->usage_of_run(run_.id).at(0).requests, kAtOnce + 1);
  EXPECT_EQ(store_->usage_of_run(run_.id).at(0).usage, (Usage{kAtOnce + 1, kAtOnce + 1, 0, 0}));
}

}  // namespace
}  // namespace forge::egress
