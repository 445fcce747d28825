#include "tests/unit/config/fixture.h"

namespace forge::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ConfigTest, HasTheDocumentedDefaultsWithoutAFile) {
  const Config config = load();
  EXPECT_FALSE(config.file_found);
  EXPECT_EQ(config.file, data() + "/forge.toml");
  EXPECT_EQ(config.server.listen, "127.0.0.1:8700");
  EXPECT_EQ(config.server.socket, data() + "/forge.sock");
  EXPECT_EQ(config.server.max_body_bytes, 8'388'608);
  EXPECT_EQ(config.jobs.concurrency, 2);
  EXPECT_EQ(config.jobs.default_adapter, "pi");
  EXPECT_EQ(config.jobs.max_turns, 50);
  EXPECT_EQ(config.jobs.time_limit_s, 1800);
  EXPECT_EQ(config.jobs.stall_limit_s, 300);
  EXPECT_EQ(config.jobs.verify_rounds, 2);
  EXPECT_EQ(config.sandbox.provider, "local");
  EXPECT_EQ(config.sandbox.policy, SandboxPolicy::strict);
  EXPECT_EQ(config.sandbox.timeout_ms, 60'000);
  EXPECT_EQ(config.budget.run_nano_usd, std::nullopt);
  EXPECT_EQ(config.budget.unpriced, Unpriced::refuse);
  EXPECT_TRUE(config.templates.contains("base"));
  EXPECT_THAT(config.models.providers, IsEmpty());
  EXPECT_THAT(config.sources, IsEmpty());
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST_F(ConfigTest, ReadsWhatTheGatewayIsTold) {
  file(R"toml(
[models.aliases]
claude-helper = "anthropic/claude-haiku-4-5"
"claude-3.5" = "corp/large"
[gateway]
allow_models = ["anthropic/claude-haiku-4-5"]
cassette = "replay:tapes/one two.jsonl"
cassette_scrub = ["messages.*.content"]
)toml");
  const Config config = load();
  EXPECT_EQ(config.models.aliases.at("claude-helper"), "anthropic/claude-haiku-4-5");
  EXPECT_EQ(config.models.aliases.at("claude-3.5"), "corp/large");
  EXPECT_THAT(config.gateway.allow_models, ElementsAre("anthropic/claude-haiku-4-5"));
  EXPECT_EQ(config.gateway.cassette, "replay:" + data() + "/tapes/one two.jsonl") << "the path counts from the file's folder";
  EXPECT_THAT(config.gateway.cassette_scrub, ElementsAre("messages.*.content"));
}

TEST_F(ConfigTest, RefusesACassetteThatIsNone) {
  for (const char* wrong : {"tape.jsonl", "play:tape.jsonl", "record:"}) {
    file(std::string("[gateway]\ncassette = \"") + wrong + "\"\n");
    EXPECT_THROW(load(), Error) << wrong;
  }
}

TEST_F(ConfigTest, ReadsEverySectionOfAFile) {
  file(R"toml(
[server]
listen = "127.0.0.1:0"
trusted_proxies = ["10.0.0.0/8", "::1"]
[jobs]
max_turns = 7
push_partial = true
[sandbox]
policy = "degraded"
memoryMb = 256
cpus = 1.5
[templates.base]
memory_bytes = 1_073_741_824
[templates.big]
kind = "tree"
packages = ["python3", "git"]
[models.providers.mine]
kind = "openai"
base_url = "http://127.0.0.1:9000/v1"
headers = { X-Team = "blue" }
[models.fallback_price]
input_usd = 3
output_usd = 15.5
[budget]
run_usd = 0.25
day_usd = "100"
unpriced = "allow"
[git]
author_name = "Bot of Ünal"
[git.credentials."git.example.com:8443"]
username = "bot"
[repositories]
allow_local = ["/srv/git"]
[network]
allow = ["pkg.test", "*.example.com"]
)toml");
  const Config config = load();
  EXPECT_EQ(config.server.listen, "127.0.0.1:0");
  EXPECT_THAT(config.server.trusted_proxies, ElementsAre("10.0.0.0/8", "::1"));
  EXPECT_EQ(config.jobs.max_turns, 7);
  EXPECT_TRUE(config.jobs.push_partial);
  EXPECT_EQ(config.sandbox.policy, SandboxPolicy::degraded);
  EXPECT_EQ(config.sandbox.docker_memory_mb, 256);
  EXPECT_DOUBLE_EQ(config.sandbox.docker_cpus, 1.5);
  EXPECT_EQ(config.templates.at("base").memory_bytes, 1 << 30);
  EXPECT_EQ(config.templates.at("base").pids, 512) << "what is not named keeps its default";
  EXPECT_EQ(config.templates.at("big").kind, TemplateKind::tree);
  EXPECT_THAT(config.templates.at("big").packages, ElementsAre("python3", "git"));
  EXPECT_EQ(config.models.providers.at("mine").kind, ProviderKind::openai);
  EXPECT_EQ(config.models.providers.at("mine").headers.at("X-Team"), "blue");
  EXPECT_EQ(config.budget.run_nano_usd, 250'000'000);
  EXPECT_EQ(config.budget.day_nano_usd, 100'000'000'000);
  EXPECT_EQ(config.budget.unpriced, Unpriced::allow);
  EXPECT_EQ(config.git.author_name, "Bot of Ünal");
  EXPECT_EQ(config.git.credentials.at("git.example.com:8443").username, "bot");
  EXPECT_THAT(config.repositories.allow_local, ElementsAre("/srv/git"));
  EXPECT_THAT(config.network.allow, ElementsAre("pkg.test", "*.example.com"));
}

TEST_F(ConfigTest, PricesCacheTokensAsInputUnlessTold) {
  file("[models.fallback_price]\ninput_usd = 3\noutput_usd = 15\ncache_read_usd = 0.3\n");
  const auto price = load().models.fallback_price();
  ASSERT_TRUE(price);
  EXPECT_EQ(price->input, 3'000'000'000);
  EXPECT_EQ(price->output, 15'000'000'000);
  EXPECT_EQ(price->cache_read, 300'000'000);
  EXPECT_EQ(price->cache_write, 3'000'000'000);
}

TEST_F(ConfigTest, LetsEnvironmentWinOverFileAndFlagsOverBoth) {
  file("[jobs]\nmax_turns = 1\nconcurrency = 1\nverify_rounds = 1\n");
  env("FORGE_JOBS__MAX_TURNS", "2");
  env("FORGE_JOBS__CONCURRENCY", "2");
  flag("jobs.max_turns", "3", "--set");
  const Config config = load();
  EXPECT_EQ(config.jobs.verify_rounds, 1);
  EXPECT_EQ(config.jobs.concurrency, 2);
  EXPECT_EQ(config.jobs.max_turns, 3);
  EXPECT_EQ(config.sources.at("jobs.verify_rounds").text(), "forge.toml:4");
  EXPECT_EQ(config.sources.at("jobs.concurrency").text(), "environment FORGE_JOBS__CONCURRENCY");
  EXPECT_EQ(config.sources.at("jobs.max_turns").text(), "flag --set");
}

TEST_F(ConfigTest, ReadsEveryTypeFromTheEnvironment) {
  env("FORGE_JOBS__PUSH_PARTIAL", "true");
  env("FORGE_SANDBOX__POLICY", "degraded");
  env("FORGE_SANDBOX__MEMORYMB", "64");
  env("FORGE_SANDBOX__CPUS", "0.5");
  env("FORGE_BUDGET__RUN_USD", "1.25");
  env("FORGE_NETWORK__ALLOW", "pkg.test, libs.test,");
  env("FORGE_TEMPLATES__BASE__PIDS", "99");
  env("FORGE_MODELS__PROVIDERS__MINE__KIND", "openai");
  env("FORGE_DATA_DIR", "/elsewhere");  // not a key; --data-dir wins
  env("FORGE_SOMEBODY_ELSES", "x");     // not ours
  const Config config = load();
  EXPECT_TRUE(config.jobs.push_partial);
  EXPECT_EQ(config.sandbox.policy, SandboxPolicy::degraded);
  EXPECT_EQ(config.sandbox.docker_memory_mb, 64);
  EXPECT_DOUBLE_EQ(config.sandbox.docker_cpus, 0.5);
  EXPECT_EQ(config.budget.run_nano_usd, 1'250'000'000);
  EXPECT_THAT(config.network.allow, ElementsAre("pkg.test", "libs.test"));
  EXPECT_EQ(config.templates.at("base").pids, 99);
  EXPECT_EQ(config.models.providers.at("mine").kind, ProviderKind::openai);
  EXPECT_EQ(config.data_dir, data());
}

TEST_F(ConfigTest, TakesASettingBackWithNothingWhereNothingIsTheDefault) {
  file("[jobs]\ndefault_model = \"anthropic/claude\"\n[network]\nallow = [\"pkg.test\"]\n");
  env("FORGE_JOBS__DEFAULT_MODEL", "");
  env("FORGE_NETWORK__ALLOW", "");
  const Config config = load();
  EXPECT_EQ(config.jobs.default_model, "");
  EXPECT_THAT(config.network.allow, IsEmpty());
}

TEST_F(ConfigTest, CountsRelativePathsFromTheFile) {
  file("[models]\nprices_file = \"prices/own.json\"\n[server]\nsocket = \"~/forge.sock\"\n");
  const Config config = load();
  EXPECT_EQ(config.models.prices_file, data() + "/prices/own.json");
  EXPECT_EQ(config.server.socket, "/home/somebody/forge.sock");
}

TEST_F(ConfigTest, FindsTheDataDirectoryInTheDocumentedOrder) {
  const auto data_dir = [](const LoadOptions& options) { return load_config(options).data_dir; };
  const std::map<std::string, std::string> all{{"FORGE_DATA_DIR", data() + "/env"}, {"XDG_DATA_HOME", data() + "/xdg"}, {"HOME", data()}};
  auto without_forge = all;
  without_forge.erase("FORGE_DATA_DIR");
  auto relative_xdg = without_forge;
  relative_xdg["XDG_DATA_HOME"] = "relative";
  EXPECT_EQ(data_dir({.data_dir = data() + "/flag/", .environment = all}), data() + "/flag");
  EXPECT_EQ(data_dir({.environment = all}), data() + "/env");
  EXPECT_EQ(data_dir({.environment = without_forge}), data() + "/xdg/forge");
  EXPECT_EQ(data_dir({.environment = relative_xdg}), data() + "/.local/share/forge");
}

TEST_F(ConfigTest, ReadsTheFileThatWasNamed) {
  test::write_file(data() + "/other.toml", "[jobs]\nmax_turns = 9\n");
  file("[jobs]\nmax_turns = 8\n");
  const Config config = load_config({.file = data() + "/other.toml", .data_dir = data(), .environment = environment_});
  EXPECT_EQ(config.jobs.max_turns, 9);
  EXPECT_EQ(config.sources.at("jobs.max_turns").text(), "other.toml:2");
}

TEST_F(ConfigTest, TakesAnEmptyFileForNoSettings) {
  file("");
  EXPECT_TRUE(load().file_found);
}

TEST_F(ConfigTest, AllowsAnotherListenerOnceThePublicUrlIsKnown) {
  file("[server]\nlisten = \"0.0.0.0:8700\"\npublic_url = \"https://forge.example.com\"\n");
  EXPECT_EQ(load().server.listen, "0.0.0.0:8700");
}

}  // namespace
}  // namespace forge::config
