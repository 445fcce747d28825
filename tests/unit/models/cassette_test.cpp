#include "orchestrator/models/cassette.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/models/cassette_body.h"
#include "orchestrator/models/providers.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/model_recorder.h"
#include "tests/support/model_server.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace forge::models {
namespace {

using nlohmann::json;
using test::error_of;
using testing::HasSubstr;
using testing::Not;

const char* const kCassetteKey = "canary-7d1f0c9a5e";

/// What one exchange brought.
struct Had {
  net::HttpHead head;
  std::string body;
};

class CassetteTest : public testing::Test {
 protected:
  CassetteOptions options(std::vector<std::string> scrubs = {"metadata.user_id"}) { return {file_, std::move(scrubs), redactor_}; }
  net::HttpRequest request(const std::string& body) const {
    return {.method = "POST",
            .url = (server_ ? server_->url() : "http://127.0.0.1:1") + "/v1/messages?beta=true",
            .headers = {{"x-api-key", kCassetteKey}, {"Authorization", std::string("Bearer ") + kCassetteKey}},
            .body = body};
  }
  Had ask(Cassette& cassette, const std::string& body) const {
    Had had;
    cassette.around(make_net_transport())
        ->stream(request(body),
                 {.head = [&](const net::HttpHead& head) { had.head = head; }, .body = [&](std::string_view piece) { had.body += piece; }},
                 test::soon());
    return had;
  }
  void serve(const std::string& script) { server_ = std::make_unique<test::ModelServer>(script); }
  void stop_serving() { server_.reset(); }

  test::TempDir dir_;
  std::string file_ = (dir_ / "tape.jsonl").string();
  Redactor redactor_;
  std::unique_ptr<test::ModelServer> server_;
};

constexpr const char* kTapeScript = R"([{"text": "one 😀", "usage": {"input": 3, "output": 2}}, {"text": "two"}])";
constexpr const char* kFirstBody =
    R"({"model":"m","metadata":{"user_id":"u1"},"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]})";
constexpr const char* kSecondBody = R"({"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"one"}]})";

TEST_F(CassetteTest, GivesBackWhatWasRecordedByteForByte) {
  serve(kTapeScript);
  const auto recording = record_cassette(options());
  const Had first = ask(*recording, kFirstBody);
  const Had second = ask(*recording, kSecondBody);
  stop_serving();
  const auto replay = replay_cassette(options());
  EXPECT_EQ(ask(*replay, kFirstBody).body, first.body);
  const Had again = ask(*replay, kSecondBody);
  EXPECT_EQ(again.body, second.body);
  EXPECT_EQ(again.head.status, 200);
  EXPECT_EQ(again.head.header("request-id"), second.head.header("request-id"));
}

TEST_F(CassetteTest, IsAFileOfTheDocumentedFormWithoutAnyKey) {
  redactor_.add(kCassetteKey);
  serve(kTapeScript);
  server_->answer_once(
      test::http_answer(400, "{}", std::string("Set-Cookie: s=1\r\nX-Echo: ") + kCassetteKey + "\r\nContent-Type: application/json\r\n"));
  ask(*record_cassette(options()), std::string(R"({"model":"m","text":")") + kCassetteKey + "\"}");
  const std::string text = test::read_file(file_);
  EXPECT_THAT(text, Not(HasSubstr(kCassetteKey)));
  EXPECT_THAT(text, Not(HasSubstr("s=1")));
  EXPECT_THAT(text, Not(HasSubstr("uthorization")));
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const auto end = text.find('\n');
  EXPECT_EQ(json::parse(text.substr(0, end)), (json{{"cassette", 1}}));
  const json line = json::parse(text.substr(end + 1));
  EXPECT_EQ(line.at("seq"), 1);
  EXPECT_EQ(line.at("method"), "POST");
  EXPECT_EQ(line.at("path"), "/v1/messages?beta=true");
  EXPECT_EQ(line.at("status"), 400);
  EXPECT_EQ(line.at("body").at("text"), "[redacted]");
  EXPECT_EQ(line.at("body_sha256").get<std::string>().size(), 64U);
  EXPECT_EQ(line.at("chunks").at(0).at(1), "e30=");
}

TEST_F(CassetteTest, LeavesOutAKeyThatTheProviderRepeats) {
  redactor_.add(kCassetteKey);
  serve(kTapeScript);
  server_->answer_once(test::http_answer(400, std::string("wrong key ") + kCassetteKey, "Content-Type: text/plain\r\n"));
  EXPECT_THAT(ask(*record_cassette(options()), kFirstBody).body, HasSubstr(kCassetteKey));
  EXPECT_EQ(ask(*replay_cassette(options()), kFirstBody).body, "wrong key [redacted]");
}

TEST_F(CassetteTest, SaysWhenABodyDoesNotHaveItsHash) {
  serve(kTapeScript);
  ask(*record_cassette(options()), kFirstBody);
  std::string text = test::read_file(file_);
  const auto hash = text.find("\"body_sha256\":\"") + 15;
  text.replace(hash, 64, std::string(64, '0'));
  test::write_file(file_, text);
  EXPECT_THAT(error_of([&] { ask(*replay_cassette(options()), kFirstBody); })->client_text(), HasSubstr("the body_sha256 of another"));
}

TEST_F(CassetteTest, TakesARequestThatDiffersOnlyWhereItIsScrubbed) {
  serve(kTapeScript);
  ask(*record_cassette(options()), kFirstBody);
  const std::string other =
      R"({ "messages":[{"content":[{"text":"a","type":"text"}],"role":"user"}], "model":"m", "metadata":{"user_id":"u2"}})";
  EXPECT_THAT(ask(*replay_cassette(options()), other).body, HasSubstr("message_stop"));
}

TEST_F(CassetteTest, NamesThePlaceWhereARequestFirstDiffers) {
  serve(kTapeScript);
  ask(*record_cassette(options()), kFirstBody);
  const auto replay = replay_cassette(options());
  const std::string other =
      R"({"model":"m","metadata":{"user_id":"u1"},"messages":[{"role":"user","content":[{"type":"text","text":"b"}]}]})";
  const auto miss = error_of([&] { ask(*replay, other); });
  EXPECT_EQ(miss->code(), ErrorCode::invalid_argument);
  EXPECT_THAT(miss->client_text(), HasSubstr("number 1, first differs at messages[0].content[0].text"));
  ask(*replay, kFirstBody);  // a miss uses nothing up
  EXPECT_THAT(error_of([&] { ask(*replay, kFirstBody); })->client_text(), HasSubstr("has 1 exchanges, and one more was asked for"));
}

TEST(CassetteBody, DiffersAtTheFirstPlace) {
  const auto place = [](const char* a, const char* b) { return first_difference(json::parse(a), json::parse(b)); };
  EXPECT_EQ(place(R"({"a":1})", R"({"a":1})"), "");
  EXPECT_EQ(place(R"({"a":1,"b":2})", R"({"a":1})"), "b");
  EXPECT_EQ(place(R"({"a":[1,2]})", R"({"a":[1]})"), "a[1]");
  EXPECT_EQ(place(R"({"a":{"b":[{"c":1}]}})", R"({"a":{"b":[{"c":"1"}]}})"), "a.b[0].c");
  EXPECT_EQ(place("1", "2"), "(body)");
}

TEST(CassetteBody, IsScrubbedByPathAndStar) {
  Redactor none;
  const json body = cassette_body(R"({"a":[{"t":1,"u":2},{"t":3}],"b":{"c":1}})", {"a.*.t", "b.c", "not.there"}, none);
  EXPECT_EQ(body, json::parse(R"({"a":[{"t":"[scrubbed]","u":2},{"t":"[scrubbed]"}],"b":{"c":"[scrubbed]"}})"));
  EXPECT_EQ(cassette_body("no json", {"a"}, none), "no json");
}

// An agent writes the body, and it is copied, compared and printed here.
TEST(CassetteBody, ThatNestsWithoutEndIsKeptAsText) {
  Redactor none;
  const std::string deep = std::string(2'000'000, '[') + std::string(2'000'000, ']');
  EXPECT_EQ(cassette_body(deep, {"a"}, none), json(deep));
}

TEST_F(CassetteTest, KeepsTheOrderOfLikeRequests) {
  serve(R"([{"error": {"status": 429, "times": 1}, "text": "one"}])");
  const auto recording = record_cassette(options());
  EXPECT_EQ(ask(*recording, kFirstBody).head.status, 429);
  EXPECT_EQ(ask(*recording, kFirstBody).head.status, 200);
  const auto replay = replay_cassette(options());
  EXPECT_EQ(ask(*replay, kFirstBody).head.status, 429);
  EXPECT_EQ(ask(*replay, kFirstBody).head.status, 200);
}

TEST_F(CassetteTest, BreaksOffWhereTheAnswerDid) {
  serve(kTapeScript);
  server_->fault_once({.reset = true});
  const auto recording = record_cassette(options());
  EXPECT_EQ(test::code_of([&] { ask(*recording, kFirstBody); }), "unavailable");
  const auto replay = replay_cassette(options());
  std::string body;
  EXPECT_EQ(test::code_of([&] {
              replay->around(nullptr)->stream(request(kFirstBody), {.body = [&](std::string_view piece) { body += piece; }}, test::soon());
            }),
            "unavailable");
  EXPECT_THAT(body, HasSubstr("message_start"));
}

TEST_F(CassetteTest, OverwritesNothing) {
  test::write_file(file_, "precious");
  serve(kTapeScript);
  EXPECT_THAT(error_of([&] { ask(*record_cassette(options()), kFirstBody); })->client_text(), HasSubstr("exists already"));
  EXPECT_EQ(test::read_file(file_), "precious");
}

TEST_F(CassetteTest, IsNotWaitedForWhereItIsNoFile) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { ask(*replay_cassette(options()), kFirstBody); })->client_text(), HasSubstr("is no regular file"));
}

TEST_F(CassetteTest, ShowsNothingOfALineThatIsBroken) {
  test::write_file(file_, "{\"cassette\":1}\n{\"seq\":1,\"body\":\"somebody's co");
  const std::string told = error_of([&] { ask(*replay_cassette(options()), kFirstBody); })->client_text();
  EXPECT_THAT(told, HasSubstr("is broken at line 2"));
  EXPECT_THAT(told, Not(HasSubstr("somebody")));
}

TEST_F(CassetteTest, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(error_of([&] { ask(*replay_cassette(options()), kFirstBody); })->client_text(), HasSubstr("cannot be read"));
  for (const char* broken :
       {"", "{}\n", "{\"cassette\":2}\n", "{\"cassette\":1}\nnothing\n", "{\"cassette\":1}\n{\"seq\":1}\n",
        "{\"cassette\":1}\n{\"seq\":1,\"method\":\"POST\",\"path\":\"/\",\"body_sha256\":\"\",\"status\":200,\"chunks\":[[0,\"*\"]]}\n"}) {
    test::write_file(file_, broken);
    EXPECT_EQ(test::code_of([&] { ask(*replay_cassette(options()), kFirstBody); }), "invalid_argument") << broken;
  }
}

// Forge's own loop goes through the same place as the gateway's doors.
TEST_F(CassetteTest, ServesForgesOwnModelsToo) {
  serve(kTapeScript);
  const PriceBook prices;
  const test::FakeClock clock;
  const auto complete = [&](Cassette& cassette) {
    ModelSettings settings{
        .providers = {{.name = "ant", .kind = ProviderKind::anthropic, .base_url = server_ ? server_->url() : "http://other.invalid"}}};
    settings.around = [&](std::unique_ptr<Transport> transport) { return cassette.around(std::move(transport)); };
    const ModelFactory factory(settings, prices, clock);
    ModelRequest asked;
    asked.messages = {{Speaker::user, {TextBlock{"hello"}}}};
    test::ModelRecorder heard;
    return factory.make("ant/m")->complete(asked, heard, test::soon());
  };
  const auto recording = record_cassette(options());
  const ModelResponse recorded = complete(*recording);
  stop_serving();
  const auto replay = replay_cassette(options());
  const ModelResponse replayed = complete(*replay);
  EXPECT_EQ(std::get<TextBlock>(replayed.blocks.at(0)).text, "one 😀");
  EXPECT_EQ(replayed.usage, recorded.usage);
  EXPECT_THAT(error_of([&] { complete(*replay); })->client_text(), HasSubstr("one more was asked for"));
}

}  // namespace
}  // namespace forge::models
