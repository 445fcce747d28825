#include "orchestrator/httpd/router.h"

#include <gmock/gmock.h>

#include "orchestrator/httpd/static_file.h"

namespace forge::httpd {
namespace {

Handler says(const std::string& text) {
  return [text](const Request&, const Stop&) { return text_response(200, "text/plain", text); };
}

Route route(Method method, const std::string& pattern) {
  return {.method = method, .pattern = pattern, .access = Access::open(), .handler = says(pattern)};
}

TEST(Router, FindsARouteAndItsParameters) {
  Router router;
  router.add(route(Method::get, "/jobs"));
  router.add(route(Method::get, "/jobs/{id}/runs/{number}"));
  const Router::Match match = router.match(Method::get, {"jobs", "a/b", "runs", "7"});
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->pattern, "/jobs/{id}/runs/{number}");
  EXPECT_EQ(match.params.at("id"), "a/b");
  EXPECT_EQ(match.params.at("number"), "7");
}

TEST(Router, PrefersALiteralSegment) {
  Router router;
  router.add(route(Method::get, "/x/{any}"));
  router.add(route(Method::get, "/x/known"));
  EXPECT_EQ(router.match(Method::get, {"x", "known"}).route->pattern, "/x/known");
  EXPECT_EQ(router.match(Method::get, {"x", "other"}).route->pattern, "/x/{any}");
}

TEST(Router, TellsNoPathFromNoMethod) {
  Router router;
  router.add(route(Method::get, "/x"));
  router.add(route(Method::post, "/x"));
  EXPECT_EQ(router.match(Method::delete_, {"x"}).allow, "GET, HEAD, POST");
  EXPECT_EQ(router.match(Method::delete_, {"y"}).allow, "");
  EXPECT_EQ(router.match(Method::get, {"x", ""}).allow, "");
  EXPECT_EQ(router.match(Method::get, {"x"}).allow, "");
}

TEST(Router, AParameterIsNeverEmpty) {
  Router router;
  router.add(route(Method::get, "/x/{id}"));
  EXPECT_EQ(router.match(Method::get, {"x", ""}).route, nullptr);
}

TEST(Router, AnswersHeadForGetUnlessReadingHasAnEffect) {
  Router router;
  router.add(route(Method::get, "/x"));
  Route once = route(Method::get, "/once");
  once.answers_head = false;
  router.add(once);
  EXPECT_NE(router.match(Method::head, {"x"}).route, nullptr);
  EXPECT_EQ(router.match(Method::head, {"once"}).route, nullptr);
  EXPECT_EQ(router.match(Method::head, {"once"}).allow, "GET");
}

TEST(Router, RefusesARouteThatDoesNotSayWhoMayCallIt) {
  Router router;
  Route open_to_whom = route(Method::get, "/x");
  open_to_whom.access = Access();
  EXPECT_THROW(router.add(open_to_whom), Error);
}

TEST(Router, RefusesTwoRoutesOfOneShape) {
  Router router;
  router.add(route(Method::get, "/x/{a}"));
  EXPECT_THROW(router.add(route(Method::get, "/x/{b}")), Error);
  EXPECT_NO_THROW(router.add(route(Method::post, "/x/{b}")));
}

TEST(Response, RefusesHeadersThatWouldBreakTheHead) {
  EXPECT_THROW(text_response(200, "text/plain", "").with("Location", "/a\r\nSet-Cookie: x"), Error);
  EXPECT_THROW(text_response(200, "text/plain\n", ""), Error);
}

TEST(Response, ErrorsHaveOneShape) {
  EXPECT_EQ(error_json(ErrorCode::not_found, "gone"), R"({"error":{"code":"not_found","message":"gone"}})");
  EXPECT_EQ(error_json(ErrorCode::invalid_argument, "bad", "a.b", "try c"),
            R"({"error":{"code":"invalid_argument","field":"a.b","hint":"try c","message":"bad"}})");
}

TEST(Request, ReadsItsQueryStrictly) {
  Request request;
  request.query = {{"limit", "5"}, {"twice", "1"}, {"twice", "2"}, {"word", "x"}, {"big", "99999999999999999999"}};
  EXPECT_EQ(request.query_integer("limit", 1, 10), 5);
  EXPECT_EQ(request.query_integer("absent", 1, 10), std::nullopt);
  EXPECT_THROW(request.query_integer("limit", 6, 10), Error);
  EXPECT_THROW(request.query_integer("word", 1, 10), Error);
  EXPECT_THROW(request.query_integer("big", 1, 10), Error);
  EXPECT_THROW(request.query_value("twice"), Error);
}

TEST(StaticFile, IsSentOnceAndThenOnlyNamed) {
  const StaticFile file("text/html", "<p>hello");
  Request request;
  const Response first = file.answer(request);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, "<p>hello");
  std::string etag;
  for (const Header& header : first.headers)
    if (header.name == "ETag") etag = header.value;
  ASSERT_FALSE(etag.empty());
  request.headers = {{"if-none-match", "\"other\", W/" + etag}};
  const Response second = file.answer(request);
  EXPECT_EQ(second.status, 304);
  EXPECT_TRUE(second.body.empty());
  request.headers = {{"if-none-match", "\"other\""}};
  EXPECT_EQ(file.answer(request).status, 200);
}

}  // namespace
}  // namespace forge::httpd
