#include "orchestrator/cli/api_client.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "orchestrator/cli/follow.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/cli/fake_forge.h"

namespace forge::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Patience kShort{
    .first = std::chrono::milliseconds(1), .most = std::chrono::milliseconds(5), .give_up = std::chrono::milliseconds(200)};

const Stop kStop = Stop::after(std::chrono::seconds(50));

/// A server that gives every request the same answer.
class Fixed {
 public:
  explicit Fixed(std::string answer)
      : server_([answer = std::move(answer)](test::Connection& connection) {
          while (connection.read_request()) connection.send(answer);
        }) {}
  ApiClient client() const { return ApiClient({.url = server_.url(), .socket = {}, .token = {}}); }

 private:
  test::LoopbackServer server_;
};

std::string with_hint(const std::optional<Error>& error) { return error ? error->client_text() + "\n" + error->hint() : ""; }

TEST(ApiClient, ReadsJobsRunsAndCosts) {
  FakeForge forge({});
  ApiClient client({.url = forge.url() + "/", .socket = {}, .token = {}});
  EXPECT_EQ(client.job("06f3m2", kStop).id.str(), kJobId);
  EXPECT_EQ(client.jobs({}, kStop).items.size(), 1u);
  EXPECT_EQ(client.run(kJobId, 1, kStop).number, 1);
  EXPECT_EQ(client.run(kJobId, 0, kStop).branch, "forge/06f3m2k9qa-1");
  EXPECT_EQ(client.cost(kJobId, 0, kStop).models.size(), 1u);
  EXPECT_EQ(client.trace(kJobId, 2, 5, 10, kStop).items.size(), 8u);
  EXPECT_EQ(client.diff(kJobId, 0, kStop), "diff --git a/a.txt b/a.txt\n");
  EXPECT_THAT(forge.requests(), Contains(std::string("GET /api/v1/jobs/") + kJobId + "/runs/2/trace?cursor=5&limit=10"));
}

TEST(ApiClient, SpeaksOverAUnixSocketWithoutAToken) {
  test::TempDir directory;
  const std::string socket = (directory / "s").string();
  FakeForge forge({}, socket);
  ApiClient client({.url = {}, .socket = socket, .token = {}});
  EXPECT_EQ(client.endpoint().shown(), socket);
  client.cancel(kJobId, kStop);
  EXPECT_EQ(forge.last("POST").header("authorization"), "");
  EXPECT_EQ(forge.last("POST").header("content-type"), "application/json");
}

TEST(ApiClient, ThrowsWhatTheServerSays) {
  const Fixed server(
      test::http_answer(409, R"({"error":{"code":"conflict","message":"a run lives","field":"id","hint":"cancel it first"}})"));
  const auto error = test::error_of([&] { server.client().new_run(kJobId, {}, kStop); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::conflict);
  EXPECT_EQ(with_hint(error), "a run lives\ncancel it first");
  EXPECT_EQ(error->field(), "id");
}

TEST(ApiClient, TakesACodeOfANewerServerForInternal) {
  const Fixed server(test::http_answer(418, R"({"error":{"code":"teapot","message":"short and stout"}})"));
  EXPECT_EQ(test::code_of([&] { server.client().job(kJobId, kStop); }), "internal");
}

TEST(ApiClient, NoticesThatTheServerIsNotForge) {
  for (const auto& answer : {test::http_answer(404, "<html>not here</html>"), test::http_answer(200, "hello"), test::http_answer(500, "[]"),
                             test::http_answer(502, R"({"error":"bad gateway"})")}) {
    const Fixed server(answer);
    const auto error = test::error_of([&] { server.client().job(kJobId, kStop); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::unavailable);
    EXPECT_THAT(with_hint(error), HasSubstr("and not as Forge does\nis that the address of a Forge server?"));
  }
}

TEST(ApiClient, CallsAnAnswerOfAnotherShapeCorrupt) {
  const Fixed server(test::http_answer(200, R"({"id":1})"));
  EXPECT_EQ(test::code_of([&] { server.client().job(kJobId, kStop); }), "corrupt");
}

TEST(ApiClient, SaysThatNobodyAnswers) {
  ApiClient socket({.url = {}, .socket = "/no/such/socket", .token = {}});
  const auto error = test::error_of([&] { socket.job(kJobId, kStop); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unavailable);
  EXPECT_THAT(with_hint(error), HasSubstr("no answer from /no/such/socket ("));
  EXPECT_THAT(with_hint(error), HasSubstr("\nis the process that owns the data directory still there?"));
}

TEST(ApiClient, KeepsTheTokenOutOfErrors) {
  ApiClient client({.url = "http://127.0.0.1:1", .socket = {}, .token = "forge_canary"});
  const auto error = test::error_of([&] { client.job(kJobId, kStop); });
  ASSERT_TRUE(error);
  EXPECT_THAT(std::string(error->what()) + with_hint(error), Not(HasSubstr("canary")));
}

TEST(ApiClient, EscapesWhatItPutsIntoAUrl) {
  EXPECT_EQ(url_escape("aZ0-._~"), "aZ0-._~");
  EXPECT_EQ(url_escape("/ ?&=#%\xc3\xbc"), "%2F%20%3F%26%3D%23%25%C3%BC");
}

/// The owner of a data directory and, once that has gone, this process in its place: at the same socket, as in Forge.
class Succession {
 public:
  explicit Succession(Script script) : script_(std::move(script)) {}

  ApiClient client(EngineUse use) {
    return ApiClient({.url = {}, .socket = socket(), .token = {}}, [this, use](const Stop&) -> std::optional<EngineUse> {
      ++asked;
      if (refusals-- > 0) return {};
      std::filesystem::remove(socket());
      heir_ = std::make_unique<FakeForge>(script_, socket());
      return use;
    });
  }
  std::string socket() const { return (directory_ / "s").string(); }

  int asked = 0;
  int refusals = 0;  ///< how often the owner is still there

 private:
  test::TempDir directory_;
  Script script_;
  std::unique_ptr<FakeForge> heir_;
};

TEST(ApiClient, TakesThePlaceOfAnOwnerThatHasGone) {
  Succession directory({});
  ApiClient client = directory.client(EngineUse::look);
  EXPECT_FALSE(client.unattended());
  EXPECT_EQ(client.job("06f3m2", kStop).id.str(), kJobId);
  EXPECT_TRUE(client.unattended());
  EXPECT_EQ(client.diff(kJobId, 0, kStop), "diff --git a/a.txt b/a.txt\n");
  EXPECT_EQ(directory.asked, 1);
}

TEST(ApiClient, SendsAgainWhatAnOwnerAboutToEndRefused) {
  Succession directory({});
  directory.refusals = 2;
  const test::LoopbackServer owner(
      [](test::Connection& connection) {
        if (connection.read_request())
          connection.send(test::http_answer(503, R"({"error":{"code":"unavailable","message":"the server is stopping"}})"));
      },
      directory.socket());
  ApiClient client = directory.client(EngineUse::work);
  client.cancel(kJobId, kStop);
  EXPECT_EQ(directory.asked, 3);
  EXPECT_FALSE(client.unattended());
}

TEST(ApiClient, DoesNotSendAgainWhatMayHaveHadItsEffect) {
  Succession directory({});
  const test::LoopbackServer owner([](test::Connection& connection) { connection.read_request(); }, directory.socket());
  ApiClient client = directory.client(EngineUse::work);
  EXPECT_EQ(test::code_of([&] { client.cancel(kJobId, kStop); }), "unavailable");
  EXPECT_EQ(directory.asked, 0);
  EXPECT_EQ(client.job(kJobId, kStop).id.str(), kJobId);  // a look has none
}

std::vector<std::int64_t> followed(FakeForge& forge, std::vector<std::string>& notes) {
  ApiClient client({.url = forge.url(), .socket = {}, .token = {}});
  std::vector<std::int64_t> seen;
  const Run run = follow_run(
      client, kJobId, 1, [&](const TraceEvent& one) { seen.push_back(one.seq); }, [&](const std::string& note) { notes.push_back(note); },
      kStop, kShort);
  EXPECT_TRUE(is_final(run.state));
  return seen;
}

TEST(Follow, HearsEveryEventOnceInOrder) {
  FakeForge forge({});
  std::vector<std::string> notes;
  EXPECT_THAT(followed(forge, notes), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(forge.last("GET " + ("/api/v1/jobs/" + std::string(kJobId)) + "/runs/1/events").header("last-event-id"), "0");
}

TEST(Follow, GoesOnWhereTheConnectionBroke) {
  Script script;
  script.cut_after = {2, 0, 3};
  FakeForge forge(script);
  std::vector<std::string> notes;
  EXPECT_THAT(followed(forge, notes), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(forge.last("GET " + ("/api/v1/jobs/" + std::string(kJobId)) + "/runs/1/events").header("last-event-id"), "5");
}

TEST(Follow, EndsWithoutATerminalEventOnceNothingMoreComes) {
  Script script;
  script.events.resize(3);  // a trace whose tail was lost with the power
  FakeForge forge(script);
  std::vector<std::string> notes;
  EXPECT_THAT(followed(forge, notes), ElementsAre(1, 2, 3));
}

TEST(Follow, GivesUpOnAServerThatStaysAway) {
  ApiClient client({.url = "http://127.0.0.1:1", .socket = {}, .token = {}});
  std::vector<std::string> notes;
  const auto error = test::error_of([&] {
    follow_run(
        client, kJobId, 1, [](const TraceEvent&) {}, [&](const std::string& note) { notes.push_back(note); }, kStop, kShort);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unavailable);
  ASSERT_FALSE(notes.empty());
  EXPECT_THAT(notes.front(), HasSubstr("no answer from http://127.0.0.1:1"));
  EXPECT_THAT(notes.front(), HasSubstr("; trying again in 1 ms"));
}

/// Follows run 1 while its owner says two events and then is gone.
std::vector<std::int64_t> followed_past_its_owner(Succession& directory, EngineUse use, std::vector<std::string>& notes) {
  Script script;
  script.cut_after = {2};
  auto owner = std::make_unique<FakeForge>(script, directory.socket());
  ApiClient client = directory.client(use);
  std::vector<std::int64_t> seen;
  follow_run(
      client, kJobId, 1,
      [&](const TraceEvent& one) {
        seen.push_back(one.seq);
        if (one.seq == 2) owner.reset();
      },
      [&](const std::string& note) { notes.push_back(note); }, kStop, kShort);
  return seen;
}

TEST(Follow, HearsTheEndFromTheStoreWhenTheOwnerHasGone) {
  Succession directory({});
  std::vector<std::string> notes;
  EXPECT_THAT(followed_past_its_owner(directory, EngineUse::look, notes), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_TRUE(notes.empty());
}

TEST(Follow, EndsWhenNobodyWorksOnTheRunAnyMore) {
  Script queued;
  queued.wait_for_cancel = true;
  Succession directory(queued);
  std::vector<std::string> notes;
  const auto error = test::error_of([&] { followed_past_its_owner(directory, EngineUse::look, notes); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->client_text(), "the run waits, and nothing works on this data directory");
}

TEST(Follow, DoesNotTryAgainWhatTheServerRefuses) {
  const Fixed server(test::http_answer(403, R"({"error":{"code":"permission_denied","message":"not yours"}})"));
  ApiClient client = server.client();
  EXPECT_EQ(test::code_of([&] {
              follow_run(
                  client, kJobId, 1, [](const TraceEvent&) {}, [](const std::string&) {}, kStop, kShort);
            }),
            "permission_denied");
}

TEST(Follow, StopsWhenThePersonDoes) {
  Script script;
  script.wait_for_cancel = true;
  FakeForge forge(script);
  ApiClient client({.url = forge.url(), .socket = {}, .token = {}});
  std::stop_source person;
  std::jthread impatient([&] {
    forge.wait_for_stream(kStop);
    person.request_stop();
  });
  EXPECT_EQ(test::code_of([&] {
              follow_run(
                  client, kJobId, 1, [](const TraceEvent&) {}, [](const std::string&) {}, Stop(person.get_token()));
            }),
            "cancelled");
}

TEST(Follow, LetsThroughWhatTheListenerThrows) {
  FakeForge forge({});
  ApiClient client({.url = forge.url(), .socket = {}, .token = {}});
  EXPECT_EQ(test::code_of([&] {
              follow_run(
                  client, kJobId, 1, [](const TraceEvent&) { throw Error(ErrorCode::internal, "listener"); }, [](const std::string&) {},
                  kStop, kShort);
            }),
            "internal");
}

}  // namespace
}  // namespace forge::cli
