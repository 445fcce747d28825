#include "orchestrator/net/sse_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "orchestrator/base/error.h"

namespace forge::net {
namespace {

using ::testing::ElementsAre;

/// "name|data|id" of each event.
using Heard = std::vector<std::string>;

Heard parse_pieces(const std::vector<std::string_view>& pieces, SseLimits limits = {}) {
  Heard heard;
  SseParser parser([&](const SseEvent& event) { heard.push_back(event.name + "|" + event.data + "|" + event.id); }, limits);
  for (const std::string_view piece : pieces) parser.feed(piece);
  return heard;
}

Heard parse(std::string_view text) { return parse_pieces({text}); }

struct Row {
  const char* what;
  std::string stream;
  Heard events;
};

std::vector<Row> rows() {
  return {
      {"line feeds", "event: a\ndata: 1\n\n", {"a|1|"}},
      {"carriage returns and line feeds", "event: a\r\ndata: 1\r\n\r\n", {"a|1|"}},
      {"carriage returns alone", "event: a\rdata: 1\r\r", {"a|1|"}},
      {"mixed ends", "event: a\r\ndata: 1\n\rdata: 2\r\r\n", {"a|1|", "|2|"}},
      {"no name", "data: x\n\n", {"|x|"}},
      {"no blank after the colon", "data:x\n\n", {"|x|"}},
      {"only one blank is taken", "data:  x\n\n", {"| x|"}},
      {"several data lines", "data: a\ndata:\ndata: b\n\n", {"|a\n\nb|"}},
      {"empty data is an event", "data:\n\n", {"||"}},
      {"a field without a colon", "data\n\n", {"||"}},
      {"a name without data is none", "event: a\n\ndata: 1\n\n", {"|1|"}},
      {"comments", ": hello\n:\ndata: 1\n: more\n\n", {"|1|"}},
      {"unknown fields", "foo: 1\nretry: 5\ndata: 1\n\n", {"|1|"}},
      {"the id stays", "id: 7\ndata: 1\n\ndata: 2\n\n", {"|1|7", "|2|7"}},
      {"an id with NUL is ignored", std::string("id: 7\nid: a\0b\ndata: 1\n\n", 23), {"|1|7"}},
      {"a byte order mark",
       "\xEF\xBB\xBF"
       "data: 1\n\n",
       {"|1|"}},
      {"a byte order mark later is data",
       "data: \xEF\xBB\xBF"
       "1\n\n",
       {"|\xEF\xBB\xBF"
        "1|"}},
      {"many blank lines", "\n\n\ndata: 1\n\n\n\n", {"|1|"}},
      {"what is left at the end is no event", "data: 1\n\ndata: 2\n", {"|1|"}},
      {"wide characters", "data: gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80\n\n", {"|gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80|"}},
      {"bad bytes are replaced", "data: a\xFFz\n\n", {"|a\xEF\xBF\xBDz|"}},
  };
}

TEST(SseParser, ReadsEachFormInOnePiece) {
  for (const Row& row : rows()) EXPECT_EQ(parse(row.stream), row.events) << row.what;
}

TEST(SseParser, ReadsEachFormByteByByte) {
  for (const Row& row : rows()) {
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < row.stream.size(); ++i) bytes.push_back(std::string_view(row.stream).substr(i, 1));
    EXPECT_EQ(parse_pieces(bytes), row.events) << row.what;
  }
}

TEST(SseParser, ReadsEachFormSplitAtAnyByte) {
  for (const Row& row : rows()) {
    const std::string_view all = row.stream;
    for (std::size_t at = 0; at <= all.size(); ++at)
      EXPECT_EQ(parse_pieces({all.substr(0, at), all.substr(at)}), row.events) << row.what << " split at " << at;
  }
}

TEST(SseParser, TellsEventsInOrderAsTheyComplete) {
  Heard heard;
  SseParser parser([&](const SseEvent& event) { heard.push_back(event.data); });
  parser.feed("data: 1\n\nda");
  EXPECT_THAT(heard, ElementsAre("1"));
  parser.feed("ta: 2\n");
  EXPECT_THAT(heard, ElementsAre("1"));
  parser.feed("\n");
  EXPECT_THAT(heard, ElementsAre("1", "2"));
}

ErrorCode refusal(const std::vector<std::string_view>& pieces, SseLimits limits) {
  try {
    parse_pieces(pieces, limits);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(SseParser, RefusesAnEventOverItsCapAndTakesOneAtIt) {
  const SseLimits limits{.max_event_bytes = 10, .max_total_bytes = 0};
  EXPECT_EQ(parse_pieces({"data: 1234\n\n"}, limits).size(), 1U);
  EXPECT_EQ(refusal({"data: 12345\n\n"}, limits), ErrorCode::limit_exceeded);
}

TEST(SseParser, RefusesAnEndlessLineBeforeItEnds) {
  EXPECT_EQ(refusal({"data: ", "12345", "6"}, {.max_event_bytes = 10, .max_total_bytes = 0}), ErrorCode::limit_exceeded);
}

TEST(SseParser, CountsTheDataLinesOfOneEventTogether) {
  EXPECT_EQ(refusal({"data: 1\ndata: 2\ndata: 34\n"}, {.max_event_bytes = 10, .max_total_bytes = 0}), ErrorCode::limit_exceeded);
}

TEST(SseParser, RefusesAStreamOverItsTotal) {
  const SseLimits limits{.max_event_bytes = 100, .max_total_bytes = 18};
  EXPECT_EQ(parse_pieces({"data: 1\n\n", "data: 2\n\n"}, limits).size(), 2U);
  EXPECT_EQ(refusal({"data: 1\n\n", "data: 2\n\n", "\n"}, limits), ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace forge::net
