#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/domain/job_json.h"
#include "tests/support/golden.h"
#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using test::RawResponse;
using testing::ElementsAre;
using testing::HasSubstr;

std::string code_of(const RawResponse& response) { return body_of(response).at("error").at("code"); }
std::string field_of(const RawResponse& response) { return body_of(response).at("error").value("field", ""); }

const char* const kMinimal = R"({"repository": "/srv/repo", "task": "Fix the test."})";

TEST(JobRoutes, CreateQueuesAJob) {
  ApiServer server;
  const RawResponse response = server.send("POST", "/api/v1/jobs", kMinimal);
  ASSERT_EQ(response.status, 201) << response.body;
  const Job job = job_from_json(body_of(response));
  EXPECT_EQ(job.state, JobState::queued);
  EXPECT_EQ(job.spec.repository, "/srv/repo");
  EXPECT_EQ(job.spec.model, "scripted:default.json");
  EXPECT_EQ(job.created_by, "local");
  EXPECT_EQ(response.header("location"), "/api/v1/jobs/" + job.id.str());
  EXPECT_EQ(response.header("content-type"), "application/json");
}

TEST(JobRoutes, CreateWithoutStartLeavesItCreated) {
  ApiServer server;
  const RawResponse response = server.send("POST", "/api/v1/jobs", R"({"repository": "/r", "task": "t", "start": false})");
  EXPECT_EQ(body_of(response).at("state"), "created");
  EXPECT_TRUE(body_of(response).at("last_run").is_null());
}

TEST(JobRoutes, CreateNamesWhatIsWrong) {
  ApiServer server;
  const auto refused = [&](const std::string& body) {
    const RawResponse response = server.send("POST", "/api/v1/jobs", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(code_of(response), "invalid_argument");
    return field_of(response);
  };
  EXPECT_EQ(refused(R"({"repository": "/r"})"), "task");
  EXPECT_EQ(refused(R"({"repository": "/r", "task": "t", "limits": {"max_turns": 0}})"), "limits.max_turns");
  EXPECT_EQ(refused(R"({"repository": "/r", "task": "t", "tasks": []})"), "tasks");
  EXPECT_EQ(refused("[]"), "");
  EXPECT_EQ(refused("{"), "");
  EXPECT_EQ(refused(""), "");
  EXPECT_EQ(refused(R"({"repository": "/r", "task": "t", "task": "u"})"), "");
  EXPECT_EQ(server.jobs.job_count(), 0U);
}

TEST(JobRoutes, ABodyMustSayThatItIsJson) {
  ApiServer server;
  const std::string head =
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(std::string(kMinimal).size()) + "\r\n";
  for (const char* type : {"", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"}) {
    const RawResponse response = test::RawClient::unix_socket(server.socket_path()).ask(head + type + "\r\n" + kMinimal);
    EXPECT_EQ(response.status, 400) << type;
  }
  const RawResponse with_charset =
      test::RawClient::unix_socket(server.socket_path()).ask(head + "Content-Type: Application/JSON; charset=utf-8\r\n\r\n" + kMinimal);
  EXPECT_EQ(with_charset.status, 201);
}

TEST(JobRoutes, ABodyAtTheCapPassesAndOneAboveDoesNot) {
  ApiOptions options = test_options();
  options.max_body_bytes = 1000;
  ApiServer server(options);
  const auto padded = [](std::size_t bytes) { return kMinimal + std::string(bytes - std::string(kMinimal).size(), ' '); };
  EXPECT_EQ(server.send("POST", "/api/v1/jobs", padded(1000)).status, 201);
  const RawResponse above = server.send("POST", "/api/v1/jobs", padded(1001));
  EXPECT_EQ(above.status, 413);
  EXPECT_EQ(code_of(above), "limit_exceeded");
}

TEST(JobRoutes, ARepeatedIdempotencyKeyMakesOneJob) {
  ApiServer server;
  const std::string key = "Idempotency-Key: abc\r\n";
  const RawResponse first = server.send("POST", "/api/v1/jobs", kMinimal, key);
  const RawResponse second = server.send("POST", "/api/v1/jobs", kMinimal, key);
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(body_of(first).at("id"), body_of(second).at("id"));
  EXPECT_EQ(server.jobs.job_count(), 1U);
  const RawResponse other = server.send("POST", "/api/v1/jobs", R"({"repository": "/r", "task": "another"})", key);
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(server.send("POST", "/api/v1/jobs", kMinimal, "Idempotency-Key: " + std::string(201, 'x') + "\r\n").status, 400);
}

TEST(JobRoutes, ListPagesTheNewestFirst) {
  ApiServer server;
  const std::string first = server.make_job("/a");
  const std::string second = server.make_job("/b");
  const std::string third = server.make_job("/a");
  const json page = body_of(server.get("/api/v1/jobs?limit=2"));
  EXPECT_EQ(page.at("items").at(0).at("id"), third);
  EXPECT_EQ(page.at("items").at(1).at("id"), second);
  const json rest = body_of(server.get("/api/v1/jobs?limit=2&cursor=" + page.at("next_cursor").get<std::string>()));
  EXPECT_EQ(rest.at("items").at(0).at("id"), first);
  EXPECT_TRUE(rest.at("next_cursor").is_null());
}

TEST(JobRoutes, ListFilters) {
  ApiServer server;
  server.make_job("/a");
  const std::string other = server.make_job("/b");
  server.jobs.end(other, Reason::completed);
  EXPECT_EQ(body_of(server.get("/api/v1/jobs?repository=/a")).at("items").size(), 1U);
  EXPECT_EQ(body_of(server.get("/api/v1/jobs?state=succeeded")).at("items").at(0).at("id"), other);
  EXPECT_EQ(body_of(server.get("/api/v1/jobs?state=failed")).at("items").size(), 0U);
}

TEST(JobRoutes, ListFiltersByTheStatusOfTheReview) {
  ApiServer server;
  server.make_job("/a");
  const std::string waiting = server.make_job("/b");
  server.jobs.edit(waiting, [](auto& run) { run.run.review = ReviewStatus::waiting; });
  const json items = body_of(server.get("/api/v1/jobs?review=waiting")).at("items");
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items.at(0).at("id"), waiting);
  EXPECT_EQ(items.at(0).at("review"), "waiting");
}

TEST(JobRoutes, ListRefusesWhatItDoesNotUnderstand) {
  ApiServer server;
  const auto refused = [&](const std::string& query) {
    const RawResponse response = server.get("/api/v1/jobs?" + query);
    EXPECT_EQ(response.status, 400) << query;
    return field_of(response);
  };
  EXPECT_EQ(refused("state=dancing"), "state");
  EXPECT_EQ(refused("review=open"), "review");
  EXPECT_EQ(refused("limit=0"), "limit");
  EXPECT_EQ(refused("limit=201"), "limit");
  EXPECT_EQ(refused("limit=many"), "limit");
  EXPECT_EQ(refused("limit=1&limit=2"), "limit");
  EXPECT_EQ(refused("stat=queued"), "stat");
}

TEST(JobRoutes, ShowTakesAUniquePrefix) {
  ApiServer server;
  const std::string id = server.make_job();
  EXPECT_EQ(body_of(server.get("/api/v1/jobs/" + id)).at("id"), id);
  EXPECT_EQ(body_of(server.get("/api/v1/jobs/" + id.substr(0, 10))).at("id"), id);
  server.make_job();
  EXPECT_EQ(server.get("/api/v1/jobs/01jd00").status, 409);
  EXPECT_EQ(server.get("/api/v1/jobs/zzzzzz").status, 404);
  EXPECT_EQ(code_of(server.get("/api/v1/jobs/zzzzzz")), "not_found");
}

TEST(JobRoutes, AJobHasTheShapeOfTheGoldenFile) {
  ApiServer server;
  const std::string id = server.make_job();
  test::expect_golden("tests/golden/http/job.json", body_of(server.get("/api/v1/jobs/" + id)).dump(2) + "\n");
}

TEST(JobRoutes, RunQueuesANewRunOfAnEndedJob) {
  ApiServer server;
  const std::string id = server.make_job();
  EXPECT_EQ(server.send("POST", "/api/v1/jobs/" + id + "/run", "").status, 409);
  server.jobs.end(id, Reason::verify_failed);
  const RawResponse retry = server.send("POST", "/api/v1/jobs/" + id + "/run", "");
  EXPECT_EQ(retry.status, 201);
  EXPECT_EQ(body_of(retry).at("number"), 2);
  server.jobs.end(id, Reason::completed);
  const RawResponse follow_up =
      server.send("POST", "/api/v1/jobs/" + id + "/run",
                  R"({"kind": "follow_up", "from_run": 1, "note": "Also the docs.", "budget": {"run_usd": "1.50"}})");
  EXPECT_EQ(body_of(follow_up).at("number"), 3);
  const NewRun wanted = server.jobs.last_wanted();
  EXPECT_EQ(wanted.kind, RunKind::follow_up);
  EXPECT_EQ(wanted.from_run, 1);
  EXPECT_EQ(wanted.note, "Also the docs.");
  EXPECT_EQ(wanted.budget_nano_usd, 1'500'000'000);
}

TEST(JobRoutes, RunRefusesWhatItDoesNotUnderstand) {
  ApiServer server;
  const std::string path = "/api/v1/jobs/" + server.make_job() + "/run";
  EXPECT_EQ(field_of(server.send("POST", path, R"({"kind": "again"})")), "kind");
  EXPECT_EQ(field_of(server.send("POST", path, R"({"kind": "first"})")), "kind");
  EXPECT_EQ(field_of(server.send("POST", path, R"({"kind": "fork", "from_run": 0})")), "from_run");
  EXPECT_EQ(field_of(server.send("POST", path, R"({"notes": "x"})")), "notes");
  EXPECT_EQ(field_of(server.send("POST", path, json{{"note", std::string(32769, 'x')}}.dump())), "note");
  EXPECT_EQ(field_of(server.send("POST", path, json{{"note", std::string("a\0b", 3)}}.dump())), "note");
  EXPECT_EQ(field_of(server.send("POST", path, R"({"budget": {"run_usd": "much"}})")), "budget.run_usd");
  EXPECT_EQ(field_of(server.send("POST", path, R"({"budget": {"run_nano_usd": 0}})")), "budget");
  EXPECT_EQ(server.send("POST", path, std::string(70000, ' ')).status, 413);
}

TEST(JobRoutes, CancelAsksForTheEnd) {
  ApiServer server;
  const std::string id = server.make_job();
  const RawResponse first = server.send("POST", "/api/v1/jobs/" + id + "/cancel", "");
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(body_of(first).at("cancel_requested"), true);
  EXPECT_EQ(server.send("POST", "/api/v1/jobs/" + id + "/cancel", "{}").status, 202);
  EXPECT_EQ(field_of(server.send("POST", "/api/v1/jobs/" + id + "/cancel", R"({"now": true})")), "now");
  server.jobs.end(id, Reason::cancelled);
  EXPECT_EQ(server.send("POST", "/api/v1/jobs/" + id + "/cancel", "").status, 409);
}

}  // namespace
}  // namespace forge::http
