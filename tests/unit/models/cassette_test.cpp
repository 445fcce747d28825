#include "orchestrator/models/cassette.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"
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

constexpr const char* kFirstBody =
    R"({"model":"m","metadata":{"user_id":"u1"},"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]})";

/// What one exchange brought.
struct Had {
  net::HttpHead head;
  std::string body;
};

/// A provider whose answer comes in pieces.
class TornAnswer final : public Transport {
 public:
  explicit TornAnswer(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  net::HttpHead stream(const net::HttpRequest&, const net::HttpReceiver& receiver, const Stop&) override {
    net::HttpHead head{200, {}};
    receiver.head(head);
    for (const std::string& piece : pieces_) receiver.body(piece);
    return head;
  }

 private:
  std::vector<std::string> pieces_;
};

std::unique_ptr<Transport> torn(std::vector<std::string> pieces) { return std::make_unique<TornAnswer>(std::move(pieces)); }

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
  /// A cassette with one exchange for kFirstBody, whose answer has these delays (milliseconds) and pieces.
  void write_tape(const std::vector<std::pair<std::int64_t, std::string>>& pieces) {
    const json body = cassette_body(kFirstBody, options().scrubs, redactor_);
    json chunks = json::array();
    for (const auto& [delay_ms, bytes] : pieces) chunks.push_back({delay_ms, base64(bytes)});
    const json line = {
        {"seq", 1},     {"method", "POST"}, {"path", "/v1/messages?beta=true"}, {"body_sha256", crypto::sha256_hex(body.dump())},
        {"body", body}, {"status", 200},    {"headers", json::array()},         {"chunks", chunks}};
    test::write_file(file_, json{{"cassette", 1}}.dump() + "\n" + line.dump() + "\n");
  }
  void serve(const std::string& script) { server_ = std::make_unique<test::ModelServer>(script); }
  void stop_serving() { server_.reset(); }

  test::TempDir dir_;
  std::string file_ = (dir_ / "tape.jsonl").string();
  Redactor redactor_;
  std::unique_ptr<test::ModelServer> server_;
};

constexpr const char* kTapeScript = R"([{"text": "one 😀", "usage": {"input": 3, "output": 2}}, {"text": "two"}])";
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

TEST_F(CassetteTest, SaysWhenABodyDoesNotHaveItsHash) {
  serve(kTapeScript);
  ask(*record_cassette(options()), kFirstBody);
  std::string text = test::read_file(file_);
  const auto hash = text.find("\"body_sha256\":\"") + 15;
  text.replace(hash, 64, std::string(64, '0'));
  test::write_file(file_, text);
  EXPECT_THAT(error_of([&] { ask(*replay_cassette(options()), kFirstBody); })->client_text(), HasSubstr("the body_sha256 of another"));
}

// A provider may repeat in its words what it was sent, and a network tears them anywhere.
TEST_F(CassetteTest, KeepsNoKeyThatAnAnswerRepeats) {
  redactor_.add(kCassetteKey);
  serve(kTapeScript);
  server_->answer_once(test::http_answer(400, std::string("bad key ") + kCassetteKey + "!", ""));
  ask(*record_cassette(options()), kFirstBody);
  EXPECT_EQ(ask(*replay_cassette(options()), kFirstBody).body, "bad key [redacted]!");
}

TEST_F(CassetteTest, FindsAKeyThatIsTornBetweenPieces) {
  redactor_.add(kCassetteKey);
  const auto recording = record_cassette(options());
  recording->around(torn({"one, can", "ary-7d1f0c9", "a5e, end"}))->stream(request(kFirstBody), {}, test::soon());
  EXPECT_EQ(ask(*replay_cassette(options()), kFirstBody).body, "one, [redacted], end");
}

TEST_F(CassetteTest, PlaysEachPieceAfterItsDelayUpToACap) {
  write_tape({{120, "one"}, {0, "two"}, {9'999'999, "three"}});
  std::vector<std::string> order;
  CassetteOptions slow = options();
  slow.pause = [&](std::chrono::milliseconds delay, const Stop&) { order.push_back(std::to_string(delay.count())); };
  replay_cassette(std::move(slow))
      ->around(nullptr)
      ->stream(request(kFirstBody),
               {.head = [&](const net::HttpHead&) { order.emplace_back("head"); },
                .body = [&](std::string_view piece) { order.emplace_back(piece); }},
               test::soon());
  EXPECT_THAT(order, testing::ElementsAre("120", "head", "one", "0", "two", "10000", "three"));
}

TEST_F(CassetteTest, StopsInTheMiddleOfADelay) {
  write_tape({{0, "one"}, {5'000, "two"}});
  std::stop_source cancel;
  std::string body;
  EXPECT_EQ(test::code_of([&] {
              replay_cassette(options())->around(nullptr)->stream(request(kFirstBody),
                                                                  {.body =
                                                                       [&](std::string_view piece) {
                                                                         body += piece;
                                                                         cancel.request_stop();
                                                                       }},
                                                                  Stop(cancel.get_token()));
            }),
            "cancelled");
  EXPECT_EQ(body, "one");
}

TEST_F(CassetteTest, RecordsTheTimeBetweenPieces) {
  SteadyClock::time_point now;
  CassetteOptions timed = options();
  timed.now = [&] { return std::exchange(now, now + std::chrono::milliseconds(7)); };
  const auto recording = record_cassette(std::move(timed));
  recording->around(torn({"a", "b"}))->stream(request(kFirstBody), {}, test::soon());
  const std::string text = test::read_file(file_);
  const json line = json::parse(text.substr(text.find('\n') + 1));
  EXPECT_EQ(line.at("chunks"), json::parse(R"([[7, "YQ=="], [7, "Yg=="]])"));
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
  EXPECT_THAT(error_of([&] { ask(*replay, kFirstBody); })->client_text(),
              HasSubstr("is used up: it has 1 exchange, and one more was asked for"));
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

TEST_F(CassetteTest, SaysBeforeAnythingIsAskedThatItCannotBeUsed) {
  EXPECT_THAT(error_of([&] { replay_cassette(options()); })->client_text(), HasSubstr("cannot be read"));
  test::write_file(file_, "precious");
  EXPECT_THAT(error_of([&] { replay_cassette(options()); })->client_text(), HasSubstr("is broken at line 1"));
  EXPECT_THAT(error_of([&] { record_cassette(options()); })->client_text(), HasSubstr("exists already"));
  file_ = (dir_ / "missing" / "tape.jsonl").string();
  const auto error = error_of([&] { record_cassette(options()); });
  EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
  EXPECT_THAT(error->client_text(), HasSubstr("its folder is not there"));
  EXPECT_THAT(error->client_text(), Not(HasSubstr(dir_.str())));
}

TEST_F(CassetteTest, OverwritesNoLinkEither) {
  std::filesystem::create_symlink(dir_ / "nowhere", file_);
  EXPECT_THAT(error_of([&] { record_cassette(options()); })->client_text(), HasSubstr("exists already"));
}

// Runs may have begun meanwhile, or another Forge.
TEST_F(CassetteTest, OverwritesNothingThatCameLater) {
  serve(kTapeScript);
  const auto recording = record_cassette(options());
  test::write_file(file_, "precious");
  EXPECT_THAT(error_of([&] { ask(*recording, kFirstBody); })->client_text(), HasSubstr("exists already"));
  EXPECT_EQ(test::read_file(file_), "precious");
}

TEST_F(CassetteTest, IsReadUpToItsCapAndNoByteMore) {
  write_tape({{0, "one"}});
  CassetteOptions capped = options();
  capped.most_bytes = std::filesystem::file_size(file_);
  EXPECT_EQ(ask(*replay_cassette(capped), kFirstBody).body, "one");
  --capped.most_bytes;
  EXPECT_THAT(error_of([&] { replay_cassette(capped); })->client_text(), HasSubstr("bytes long, and at most"));
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
        "{\"cassette\":1}\n{\"seq\":1,\"method\":\"POST\",\"path\":\"/\",\"body_sha256\":\"\",\"status\":200,\"chunks\":[[0,\"*\"]]}\n",
        "{\"cassette\":1}\n{\"seq\":1,\"method\":\"POST\",\"path\":\"/\",\"body_sha256\":\"\",\"status\":200,\"chunks\":[[-1,\"\"]]}\n"}) {
    test::write_file(file_, broken);
    const auto error = error_of([&] { ask(*replay_cassette(options()), kFirstBody); });
    ASSERT_TRUE(error) << broken;
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument) << broken;
    EXPECT_THAT(error->client_text(), HasSubstr("the cassette tape.jsonl is")) << broken;
    EXPECT_THAT(error->client_text(), Not(HasSubstr(dir_.str()))) << broken;
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
