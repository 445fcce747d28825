#include "orchestrator/models/providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/model_recorder.h"
#include "tests/support/model_server.h"
#include "tests/support/temp_dir.h"

namespace forge::models {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using ::testing::HasSubstr;

class Providers : public ::testing::Test {
 protected:
  ModelFactory factory(std::vector<ProviderConfig> providers, std::string default_model = {}) {
    return ModelFactory({.providers = std::move(providers), .default_model = std::move(default_model), .config_file = "/etc/forge.toml"},
                        prices_, clock_);
  }
  static ProviderConfig anthropic(std::string url = {}) {
    return {.name = "anthropic", .kind = ProviderKind::anthropic, .base_url = std::move(url), .api_key = "key-a"};
  }
  static ProviderConfig openai(std::string url = {}) {
    return {.name = "openai", .kind = ProviderKind::openai, .base_url = std::move(url), .api_key = "key-o"};
  }

  PriceBook prices_;
  test::FakeClock clock_;
};

TEST_F(Providers, SayWhatToSetWhenNothingIsConfigured) {
  const ModelFactory none = factory({});
  for (const char* name : {"", "claude-opus-5-5", "anthropic/claude-opus-5-5"}) {
    const auto error = error_of([&] { none.make(name); });
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error->client_text(),
              "no model configured: set ANTHROPIC_API_KEY, or OPENAI_API_KEY, or models.providers in /etc/forge.toml, or use --model "
              "scripted:FILE");
  }
}

TEST_F(Providers, ResolveEachFormOfAName) {
  const ModelFactory both = factory({anthropic(), openai()});
  struct Row {
    const char* name;
    const char* full;
  };
  for (const Row& row : {Row{"openai/gpt-6.2-sol", "openai/gpt-6.2-sol"}, Row{"gpt-6.2-sol", "openai/gpt-6.2-sol"},
                         Row{"claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5-20251001"},
                         Row{"never-heard-of", "anthropic/never-heard-of"}, Row{"openai/meta/llama", "openai/meta/llama"},
                         Row{"", "anthropic/claude-sonnet-5-5"}, Row{"scripted:a/b.json", "scripted:a/b.json"}})
    EXPECT_EQ(both.resolve(row.name).name, row.full) << row.name;
  EXPECT_EQ(both.resolve("openai/meta/llama").model, "meta/llama");
  EXPECT_EQ(both.resolve("scripted:x").provider, nullptr);
}

TEST_F(Providers, TakeTheConfiguredDefaultModel) {
  EXPECT_EQ(factory({anthropic(), openai()}, "gpt-6.2-astra").resolve("").name, "openai/gpt-6.2-astra");
  EXPECT_EQ(factory({}, "scripted:demo.json").resolve("").name, "scripted:demo.json");
  EXPECT_EQ(factory({openai()}).resolve("").name, "openai/gpt-6.2-sol");
}

TEST_F(Providers, RefuseAProviderThatIsNotConfigured) {
  const ModelFactory one = factory({openai()});
  const auto unknown = error_of([&] { one.resolve("corp/x"); });
  EXPECT_EQ(unknown->code(), ErrorCode::invalid_argument);
  EXPECT_EQ(unknown->field(), "model");
  EXPECT_THAT(unknown->hint(), HasSubstr("openai"));
  const auto absent = error_of([&] { one.resolve("claude-opus-5-5"); });
  EXPECT_THAT(absent->client_text(), HasSubstr("belongs to the provider 'anthropic', which is not configured"));
  EXPECT_EQ(test::code_of([&] { one.resolve("openai/"); }), "invalid_argument");
}

TEST_F(Providers, AskForAModelWhereThereIsNoDefault) {
  const ModelFactory own = factory({{.name = "corp", .kind = ProviderKind::openai, .base_url = "http://127.0.0.1:1/v1"}});
  const auto error = error_of([&] { own.resolve(""); });
  EXPECT_THAT(error->client_text(), HasSubstr("'corp' has no default"));
  EXPECT_THAT(error->hint(), HasSubstr("--model corp/MODEL"));
}

TEST_F(Providers, RefuseNamesAndUrlsThatMakeNoSense) {
  for (const char* name : {"", "a/b", "a:b", "a b"})
    EXPECT_EQ(test::code_of([&] { factory({{.name = name, .kind = ProviderKind::openai, .base_url = "http://x"}}); }), "invalid_argument")
        << name;
  for (const char* url : {"ftp://x", "x.example", "file:///x"}) {
    const auto error = error_of([&] { factory({{.name = "corp", .kind = ProviderKind::openai, .base_url = url}}); });
    EXPECT_EQ(error->field(), "models.providers.corp.base_url") << url;
  }
  EXPECT_EQ(error_of([&] { factory({{.name = "s", .kind = ProviderKind::scripted}}); })->field(), "models.providers.s.base_url");
}

TEST_F(Providers, NeverRepeatCredentialsOfAUrl) {
  const auto error = error_of([&] { factory({{.name = "corp", .kind = ProviderKind::openai, .base_url = "ftp://u:hunter2@x/"}}); });
  EXPECT_THAT(error->what(), ::testing::Not(HasSubstr("hunter2")));
}

TEST_F(Providers, MakeModelsThatTalk) {
  test::ModelServer server(R"([{"text": "hi", "usage": {"input": 2, "output": 1}}])");
  const ModelFactory both = factory({anthropic(server.url() + "/"), openai(server.url() + "/v1")});
  test::ModelRecorder heard;
  ModelRequest request;
  request.messages = {{Speaker::user, {TextBlock{"go"}}}};
  for (const char* name : {"claude-opus-5-5", "gpt-6.2-sol"}) {
    const auto model = both.make(name);
    EXPECT_EQ(std::get<TextBlock>(model->complete(request, heard, Stop::after(8s)).blocks.at(0)).text, "hi");
    EXPECT_GT(model->context_window(), 0);
  }
  EXPECT_EQ(server.requests().at(0).target, "/v1/messages");
  EXPECT_EQ(server.requests().at(0).header("x-api-key"), "key-a");
  EXPECT_EQ(server.requests().at(1).target, "/v1/chat/completions");
  EXPECT_EQ(server.requests().at(1).header("authorization"), "Bearer key-o");
  EXPECT_EQ(both.make("openai/unknown")->context_window(), 0);
}

TEST_F(Providers, MakeAScriptedModelFromANameAndFromAProvider) {
  const test::TempDir dir;
  test::write_file(dir / "s.json", R"([{"text": "hi"}])");
  const std::string file = (dir / "s.json").string();
  EXPECT_EQ(factory({}).make("scripted:" + file)->name(), "scripted:" + file);
  const ModelFactory replay = factory({{.name = "replay", .kind = ProviderKind::scripted, .base_url = file}});
  EXPECT_EQ(replay.make("")->name(), "scripted:" + file);
  EXPECT_EQ(replay.make("replay/x")->name(), "scripted:" + file);
}

TEST(ProviderKinds, AreParsedByTheirNames) {
  for (const ProviderKind kind : {ProviderKind::anthropic, ProviderKind::openai, ProviderKind::scripted})
    EXPECT_EQ(parse_provider_kind(name_of(kind)), kind);
  EXPECT_EQ(parse_provider_kind("Anthropic"), std::nullopt);
}

TEST(StopReasons, AreParsedByTheirNames) {
  for (int i = 0; i <= static_cast<int>(StopReason::other); ++i)
    EXPECT_EQ(parse_stop_reason(name_of(static_cast<StopReason>(i))), static_cast<StopReason>(i));
  EXPECT_EQ(parse_stop_reason("done"), std::nullopt);
}

}  // namespace
}  // namespace forge::models
