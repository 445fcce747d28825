// Holds openapi.json against the router, both ways, and against the names and answers of the code.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "orchestrator/base/text.h"
#include "orchestrator/domain/review_json.h"
#include "orchestrator/http/public_error.h"
#include "tests/support/sample_review.h"
#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using Names = std::set<std::string>;

const json& document(ApiServer& server) {
  static const json parsed = json::parse(server.tcp_get("/openapi.json").body);
  return parsed;
}

Names parameters(const json& operation, const std::string& where) {
  Names names;
  for (const json& parameter : operation.value("parameters", json::array()))
    if (parameter.at("in") == where) names.insert(parameter.at("name").get<std::string>());
  return names;
}

Names path_parameters(const std::string& pattern) {
  Names names;
  for (const std::string& segment : split(pattern, '/'))
    if (segment.starts_with('{')) names.insert(segment.substr(1, segment.size() - 2));
  return names;
}

TEST(OpenApi, DescribesEveryRoute) {
  ApiServer server;
  const json& paths = document(server).at("paths");
  for (const httpd::Route& route : server.api->router().routes()) {
    const std::string method = lower_ascii(httpd::name_of(route.method));
    const std::string name = method + " " + route.pattern;
    ASSERT_TRUE(paths.contains(route.pattern) && paths.at(route.pattern).contains(method)) << name;
    const json& operation = paths.at(route.pattern).at(method);
    EXPECT_EQ(operation.at("x-forge-role"), route.access.is_open() ? "none" : name_of(route.access.role())) << name;
    EXPECT_EQ(operation.contains("security"), route.access.is_open()) << name;
    EXPECT_EQ(parameters(operation, "query"), Names(route.query.begin(), route.query.end())) << name;
    EXPECT_EQ(parameters(operation, "path"), path_parameters(route.pattern)) << name;
    EXPECT_EQ(operation.contains("requestBody"), route.body_bytes != 0) << name;
    EXPECT_EQ(operation.at("responses").contains("401"),
              !route.access.is_open() || route.pattern == "/sign-in/{secret}" || route.pattern == "/api/v1/session")
        << name;
  }
}

TEST(OpenApi, DescribesNothingElse) {
  ApiServer server;
  Names routes;
  for (const httpd::Route& route : server.api->router().routes())
    routes.insert(lower_ascii(httpd::name_of(route.method)) + " " + route.pattern);
  Names described;
  Names operation_ids;
  for (const auto& [path, operations] : document(server).at("paths").items())
    for (const auto& [method, operation] : operations.items()) {
      described.insert(method + " " + path);
      EXPECT_TRUE(operation_ids.insert(operation.at("operationId").get<std::string>()).second) << operation.at("operationId");
    }
  EXPECT_EQ(described, routes);
}

TEST(ApiPage, NamesEveryRouteAndNothingElse) {
  ApiServer server;
  Names routes;
  for (const httpd::Route& route : server.api->router().routes())
    routes.insert(std::string(httpd::name_of(route.method)) + " " + route.pattern);
  Names named;
  for (const std::string& line : split(test::read_file("docs/api.md"), '\n')) {
    if (!line.starts_with("| `")) continue;
    for (const std::string& quoted : split(line, '`'))
      if (quoted.find(" /") != std::string::npos) named.insert(quoted);
  }
  EXPECT_EQ(named, routes);
}

TEST(ApiPage, NamesEveryErrorCodeWithItsStatus) {
  const std::string page = test::read_file("docs/api.md");
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    bool found = false;
    for (const std::string& line : split(page, '\n'))
      found = found || (line.starts_with("| `") && line.find('`' + std::string(name_of(code)) + '`') != std::string::npos &&
                        line.find("| " + std::to_string(status_of(code)) + " |") != std::string::npos);
    EXPECT_TRUE(found) << name_of(code);
  }
}

void expect_references_resolve(const json& whole, const json& value) {
  if (value.is_object() && value.contains("$ref")) {
    const std::string target = value.at("$ref").get<std::string>().substr(1);
    EXPECT_TRUE(whole.contains(json::json_pointer(target))) << target;
  }
  if (value.is_structured())
    for (const json& part : value) expect_references_resolve(whole, part);
}

TEST(OpenApi, EveryReferenceResolves) {
  ApiServer server;
  expect_references_resolve(document(server), document(server));
}

template <typename Enum>
json names_up_to(Enum last) {
  json names = json::array();
  for (int i = 0; i <= static_cast<int>(last); ++i) names.push_back(name_of(static_cast<Enum>(i)));
  return names;
}

TEST(OpenApi, KnowsTheNamesOfTheCode) {
  ApiServer server;
  const json& schemas = document(server).at("components").at("schemas");
  EXPECT_EQ(schemas.at("State").at("enum"), names_up_to(JobState::cancelled));
  EXPECT_EQ(schemas.at("Reason").at("enum"), names_up_to(Reason::interrupted));
  EXPECT_EQ(schemas.at("ReviewStatus").at("enum"), names_up_to(ReviewStatus::dismissed));
  EXPECT_EQ(schemas.at("HunkVerdict").at("enum"), names_up_to(HunkVerdict::reject));
  EXPECT_EQ(schemas.at("ReviewHunk").at("properties").at("kind").at("enum"), names_up_to(HunkKind::file));
  EXPECT_EQ(schemas.at("ReviewFile").at("properties").at("change").at("enum"), names_up_to(FileChange::retyped));
  EXPECT_EQ(schemas.at("ReviewComment").at("properties").at("side").at("enum"), names_up_to(DiffSide::head));
  EXPECT_EQ(schemas.at("Role").at("enum"), names_up_to(Role::viewer));
  EXPECT_EQ(schemas.at("TraceEvent").at("properties").at("type").at("enum"), names_up_to(TraceType::terminal));
  EXPECT_EQ(schemas.at("Error").at("properties").at("error").at("properties").at("code").at("enum"), names_up_to(ErrorCode::internal));
}

/// `value` has all that `schema` requires and nothing that it does not name.
void expect_conforms(const json& schemas, const json& value, const json& schema, const std::string& at) {
  if (schema.contains("$ref")) {
    const std::string name = schema.at("$ref").get<std::string>();
    return expect_conforms(schemas, value, schemas.at(name.substr(name.rfind('/') + 1)), at);
  }
  if (value.is_null()) {
    EXPECT_TRUE(schema.value("nullable", false)) << at;
    return;
  }
  if (schema.contains("allOf") && schema.at("allOf").size() == 1) return expect_conforms(schemas, value, schema.at("allOf").at(0), at);
  if (value.is_array() && schema.contains("items")) {
    for (const json& item : value) expect_conforms(schemas, item, schema.at("items"), at + "[]");
  }
  if (!value.is_object() || !schema.contains("properties")) return;
  for (const json& key : schema.value("required", json::array())) EXPECT_TRUE(value.contains(key.get<std::string>())) << at << "." << key;
  for (const auto& [key, part] : value.items()) {
    ASSERT_TRUE(schema.at("properties").contains(key)) << at << "." << key << " is not described";
    expect_conforms(schemas, part, schema.at("properties").at(key), at + "." + key);
  }
}

TEST(OpenApi, AnswersAreAsDescribed) {
  ApiServer server;
  const std::string id = server.make_job();
  server.jobs.edit(id, [](auto& run) { run.run.verify = {{"make", 1}}; });
  server.jobs.end(id, Reason::verify_failed);
  const json& schemas = document(server).at("components").at("schemas");
  const auto check = [&](const std::string& target, const std::string& schema) {
    const test::RawResponse response = server.get(target);
    ASSERT_EQ(response.status, 200) << target;
    expect_conforms(schemas, json::parse(response.body), schemas.at(schema), target);
  };
  check("/api/v1/jobs", "JobList");
  check("/api/v1/jobs/" + id, "Job");
  check("/api/v1/jobs/" + id + "/runs", "RunList");
  check("/api/v1/jobs/" + id + "/runs/1", "Run");
  check("/api/v1/jobs/" + id + "/trace", "TracePage");
  check("/api/v1/jobs/" + id + "/diff", "Diff");
  check("/api/v1/jobs/" + id + "/cost", "RunCost");
  check("/api/v1/templates", "TemplateList");
  check("/api/v1/adapters", "AdapterList");
  check("/api/v1/models", "ModelList");
  check("/api/v1/branches?repository=/srv/app", "BranchList");
  server.jobs.spent.day = server.clock.now_ms() / kDayMs;
  check("/api/v1/costs", "Spending");
  check("/api/v1/session", "Who");
  check("/healthz", "Status");
  check("/readyz", "Status");
  issue_token(server.access, "x", Role::viewer);
  check("/api/v1/tokens", "TokenList");
  expect_conforms(schemas, json::parse(server.get("/api/v1/jobs/zzzzzz").body), schemas.at("Error"), "error");
  expect_conforms(schemas, json::parse(server.send("POST", "/api/v1/sign-in-links", "").body), schemas.at("SignInLink"), "link");
}

TEST(OpenApi, DescribesWhatReviewsAnswer) {
  ApiServer server;
  const std::string id = server.make_job();
  server.jobs.end(id, Reason::completed);
  server.reviews.put(test::sample_review(JobId(id), 1));
  const json& schemas = document(server).at("components").at("schemas");
  const std::string path = "/api/v1/jobs/" + id + "/review";
  const auto check = [&](const test::RawResponse& response, const std::string& schema) {
    ASSERT_EQ(response.status / 100, 2) << response.body;
    expect_conforms(schemas, json::parse(response.body), schemas.at(schema), schema);
  };
  check(server.get("/api/v1/jobs/" + id + "/diff?since_run=1"), "Diff");
  check(server.send("POST", path + "/comments", R"({"path": "tool.sh", "start_line": 1, "body": "b"})"), "ReviewComment");
  check(server.send("POST", path + "/apply", R"({"revision": 4, "confirm_undecided": true})"), "AppliedReview");
  check(server.get(path), "Review");
  check(server.send("POST", path + "/send-back", R"({"revision": 5})"), "SentBack");
}

/// What a request may hold is what the code takes: a body with every field of the schema is understood.
TEST(OpenApi, DescribesWhatReviewsTake) {
  ApiServer server;
  const json& schemas = document(server).at("components").at("schemas");
  const auto expect_fields = [&](const char* schema, const json& body) {
    Names named;
    for (const auto& [key, value] : schemas.at(schema).at("properties").items()) named.insert(key);
    Names given;
    for (const auto& [key, value] : body.items()) given.insert(key);
    EXPECT_EQ(given, named) << schema;
  };
  json edit = json::parse(R"({"summary": "s", "verdicts": [{"hunk_id": "a", "verdict": null, "reason": "r"}], "send_drafts": true,
                              "suggestions": [{"comment": "c", "accepted": true}], "viewed": [{"path": "x", "viewed": true}]})");
  review_edit_from_json(edit);
  expect_fields("ReviewEdit", edit);
  json comment = json::parse(R"({"path": "x", "side": "head", "start_line": 1, "end_line": 2, "quote": "q", "body": "b", "suggestion": "s",
                                 "draft": true})");
  new_comment_from_json(comment);
  comment["path_base64"] = "eA==";  // in place of the path
  expect_fields("NewReviewComment", comment);
  const json changed = json::parse(R"({"body": "b", "suggestion": null, "draft": false})");
  comment_edit_from_json(changed);
  expect_fields("ReviewCommentEdit", changed);
  const json apply = json::parse(R"({"revision": 1, "message": "m", "push": true, "confirm_undecided": true})");
  apply_request_from_json(apply);
  expect_fields("ApplyRequest", apply);
  const json back = json::parse(R"({"revision": 1, "note": "n"})");
  send_back_request_from_json(back);
  expect_fields("SendBackRequest", back);
}

TEST(OpenApi, IsServedWithATag) {
  ApiServer server;
  const test::RawResponse first = server.tcp_get("/openapi.json");
  EXPECT_EQ(first.header("content-type"), "application/json");
  EXPECT_EQ(server.tcp_get("/openapi.json", "If-None-Match: " + first.header("etag") + "\r\n").status, 304);
}

}  // namespace
}  // namespace forge::http
