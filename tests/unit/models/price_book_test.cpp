#include "orchestrator/models/price_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "orchestrator/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"

namespace forge::models {
namespace {

using test::code_of;
using test::error_of;
using ::testing::HasSubstr;

constexpr std::int64_t kUsd = 1'000'000'000;

std::int64_t cost(const PriceBook& book, const char* model, const Usage& usage) {
  const auto price = book.price(model);
  EXPECT_TRUE(price) << model;
  return price ? cost_nano_usd(usage, *price) : -1;
}

TEST(PriceBook, IsDatedAndNamesItsSource) {
  const PriceBook book;
  EXPECT_EQ(book.date(), "2026-11-20");
  EXPECT_THAT(book.source(), HasSubstr("pi-ai 1.6.0"));
}

TEST(PriceBook, HoldsThePricesOfTheTable) {
  struct Row {
    const char* model;
    double in, out, read, write;
  };
  const PriceBook book;
  for (const Row& row : {Row{"anthropic/claude-opus-5-5", 4, 20, 0.2, 5}, Row{"anthropic/claude-opus-5", 5, 25, 0.5, 6.25},
                         Row{"anthropic/claude-opus-4-5", 5, 25, 0.5, 6.25}, Row{"anthropic/claude-opus-4-8", 5, 25, 0.5, 6.25},
                         Row{"anthropic/claude-fable-5", 10, 50, 1, 12.5}, Row{"anthropic/claude-fable-5-1", 10, 50, 0.25, 12.5},
                         Row{"anthropic/claude-fable-5-2", 8, 40, 0.2, 10}, Row{"anthropic/claude-sonnet-5-5", 2, 10, 0.1, 2.5},
                         Row{"anthropic/claude-sonnet-5", 2, 10, 0.2, 2.5}, Row{"anthropic/claude-sonnet-4-5", 3, 15, 0.3, 3.75},
                         Row{"anthropic/claude-haiku-5-5", 0.1, 0.5, 0.01, 0.125}, Row{"anthropic/claude-haiku-4-5", 1, 5, 0.1, 1.25},
                         Row{"openai/gpt-6.2-sol", 2, 10, 0.1, 2.5}, Row{"openai/gpt-6.2-astra", 8, 40, 0.4, 10},
                         Row{"google/gemini-4-carbon", 2, 10, 0.1, 0}, Row{"google/gemini-4-neon", 3, 15, 0.15, 0},
                         Row{"deepseek/deepseek-v4-pro", 1.32, 3.96, 0.044, 0}}) {
    const auto found = book.find(row.model);
    ASSERT_TRUE(found && found->price) << row.model;
    const auto nano = [](double usd) { return std::int64_t{std::lround(usd * 1e9)}; };
    EXPECT_EQ(found->price->input, nano(row.in)) << row.model;
    EXPECT_EQ(found->price->output, nano(row.out)) << row.model;
    EXPECT_EQ(found->price->cache_read, nano(row.read)) << row.model;
    EXPECT_EQ(found->price->cache_write, nano(row.write)) << row.model;
    EXPECT_GE(found->context_window, 128'000) << row.model;
    EXPECT_EQ(found->hash.size(), 16U);
  }
}

TEST(PriceBook, PricesARequestToTheNanoDollar) {
  const PriceBook book;
  // 1000 x 4 + 200 x 20 + 5000 x 0.2 + 300 x 5 dollars per million = 0.0105 dollars
  EXPECT_EQ(cost(book, "anthropic/claude-opus-5-5", {.input = 1000, .output = 200, .cache_read = 5000, .cache_write = 300}), 10'500'000);
  // One cache read token of the cheapest row: 10 nano-dollars.
  EXPECT_EQ(cost(book, "anthropic/claude-haiku-5-5", {.input = 0, .output = 0, .cache_read = 1, .cache_write = 0}), 10);
  EXPECT_EQ(cost(book, "deepseek/deepseek-v4-pro", {.input = 7, .output = 3, .cache_read = 1, .cache_write = 0}), 7 * 1320 + 3 * 3960 + 44);
}

TEST(PriceBook, PricesTheWholeRequestInTheTierItsPromptReaches) {
  const PriceBook book;
  const Usage at{.input = 60'000, .output = 1'000, .cache_read = 30'000, .cache_write = 10'000};
  const Usage above{.input = 60'001, .output = 1'000, .cache_read = 30'000, .cache_write = 10'000};
  EXPECT_EQ(cost(book, "anthropic/claude-haiku-5-5", at), 60'000 * 100 + 1'000 * 500 + 30'000 * 10 + 10'000 * 125);
  EXPECT_EQ(cost(book, "anthropic/claude-haiku-5-5", above), 60'001 * 500 + 1'000 * 2500 + 30'000 * 50 + 10'000 * 625);
  const Usage large{.input = 272'001, .output = 10, .cache_read = 0, .cache_write = 0};
  EXPECT_EQ(cost(book, "openai/gpt-6.2-astra", large), 272'001LL * 16'000 + 10LL * 60'000);
  EXPECT_EQ(cost(book, "openai/gpt-6.2-sol", large), 272'001LL * 4'000 + 10LL * 15'000);
}

TEST(PriceBook, KnowsNoPriceForAModelItDoesNotKnow) {
  const PriceBook book;
  for (const char* name : {"", "anthropic/", "anthropic/claude-9", "gpt-7", "corp/claude-opus-5-5", "claude-opus-5-5-202511", "x-20251001"})
    EXPECT_FALSE(book.price(name)) << name;
}

TEST(PriceBook, FindsBareAndDatedNames) {
  const PriceBook book;
  for (const char* name :
       {"claude-haiku-4-5", "claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5-20251001", "claude-haiku-4-5-2025-10-01"}) {
    const auto row = book.find(name);
    ASSERT_TRUE(row) << name;
    EXPECT_EQ(row->model, "anthropic/claude-haiku-4-5") << name;
  }
  EXPECT_EQ(book.provider_of("gpt-6.2-sol"), "openai");
  EXPECT_EQ(book.provider_of("claude-sonnet-4-5-20250929"), "anthropic");
  EXPECT_EQ(book.provider_of("unknown"), "");
}

TEST(PriceBook, CountsAReplayAsFree) {
  const PriceBook book;
  EXPECT_EQ(cost(book, "scripted:/tmp/x.json", {.input = 1000, .output = 1000, .cache_read = 0, .cache_write = 0}), 0);
}

TEST(PriceBook, TakesAZeroForUnknownUnlessItIsMarkedFree) {
  PriceBook book;
  book.add(R"({"models": {
    "a/zero": {"input": 0, "output": 1, "cache_read": 1, "cache_write": 1, "context_window": 7},
    "a/tier": {"input": 1, "output": 1, "cache_read": 1, "cache_write": 1, "tiers": [{"input_tokens_above": 5, "input": 0, "output": 1, "cache_read": 1, "cache_write": 1}]},
    "a/part": {"input": 1, "output": 1, "free": ["cache_read", "cache_write"]},
    "a/free": {"free": true}}})",
           "test");
  EXPECT_FALSE(book.price("a/zero"));
  EXPECT_EQ(book.find("a/zero")->context_window, 7);
  EXPECT_FALSE(book.price("a/tier"));
  EXPECT_EQ(cost(book, "a/part", {.input = 1'000'000, .output = 0, .cache_read = 9, .cache_write = 9}), 1);
  EXPECT_EQ(cost(book, "a/free", {.input = 1'000'000, .output = 1, .cache_read = 9, .cache_write = 9}), 0);
}

TEST(PriceBook, LetsTheOperatorsFileReplaceAndAddRows) {
  const test::TempDir dir;
  test::write_file(dir / "prices.json", R"({"date": "2027-01-01", "source": "us", "models": {
    "openai/gpt-6.2-sol": {"input": 1000000000, "output": 2000000000, "cache_read": 3000000000, "cache_write": 4000000000},
    "scripted": {"input": 1000000000, "output": 1000000000, "cache_read": 1000000000, "cache_write": 1000000000},
    "corp/own": {"input": 5000000000, "output": 1, "cache_read": 1, "cache_write": 1}}})");
  const PriceBook book = PriceBook::load(dir / "prices.json");
  EXPECT_EQ(book.price("gpt-6.2-sol")->input, kUsd);
  EXPECT_TRUE(book.price("gpt-6.2-sol")->tiers.empty());
  EXPECT_EQ(book.price("own")->input, 5 * kUsd);
  EXPECT_EQ(cost(book, "scripted:x", {.input = 2, .output = 3, .cache_read = 0, .cache_write = 0}), 5000);
  EXPECT_EQ(book.price("claude-opus-5-5")->input, 4 * kUsd) << "the rest stays";
  EXPECT_EQ(book.date(), "2026-11-20");
  EXPECT_NE(book.find("gpt-6.2-sol")->hash, PriceBook().find("gpt-6.2-sol")->hash) << "the row used can be told apart";
}

TEST(PriceBook, NamesNoProviderForAModelThatTwoHave) {
  PriceBook book;
  book.add(R"({"models": {"corp/gpt-6.2-sol": {"free": true}}})", "test");
  EXPECT_EQ(book.provider_of("gpt-6.2-sol"), "");
  EXPECT_FALSE(book.find("gpt-6.2-sol"));
}

TEST(PriceBook, SaysWhereAPriceFileIsWrong) {
  const auto field_of = [](const char* text) {
    PriceBook book;
    const auto error = error_of([&] { book.add(text, "my prices"); });
    EXPECT_THAT(error->what(), HasSubstr("my prices"));
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
    return error->field();
  };
  EXPECT_EQ(field_of("[]"), "");
  EXPECT_EQ(field_of("{"), "");
  EXPECT_EQ(field_of("{}"), "models");
  EXPECT_EQ(field_of(R"({"models": {"a/b": {"input": 1.5}}})"), "models.a/b.input");
  EXPECT_EQ(field_of(R"({"models": {"a/b": {"input": 1}}})"), "models.a/b.output");
  EXPECT_EQ(field_of(R"({"models": {"a/b": {"input": -1}}})"), "models.a/b.input");
  EXPECT_EQ(field_of(R"({"models": {"a/b": {"free": true, "inputs": 1}}})"), "models.a/b.inputs");
  EXPECT_EQ(field_of(R"({"models": {"a/b": {"free": true, "tiers": [{"input_tokens_above": 5}, {"input_tokens_above": 5}]}}})"),
            "models.a/b.tiers[1].input_tokens_above");
  EXPECT_EQ(field_of(R"({"models": {"a/b": {"free": true, "tiers": {}}}})"), "models.a/b.tiers");
  EXPECT_EQ(field_of(R"({"model": {}, "models": {}})"), "model");
}

TEST(PriceBook, SaysWhichPriceFileCannotBeRead) {
  EXPECT_EQ(code_of([] { PriceBook::load("/nonexistent/prices.json"); }), "not_found");
  EXPECT_THAT(error_of([] { PriceBook::load("/nonexistent/prices.json"); })->what(), HasSubstr("/nonexistent/prices.json"));
}

}  // namespace
}  // namespace forge::models
