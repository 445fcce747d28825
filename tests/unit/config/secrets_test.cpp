#include <sys/stat.h>

#include "orchestrator/config/show.h"
#include "tests/unit/config/fixture.h"

namespace forge::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSecretValue = "sk-canary-0123456789";

TEST_F(ConfigTest, MakesProvidersOfTheVendorsVariables) {
  env("ANTHROPIC_API_KEY", kSecretValue);
  env("OPENAI_API_KEY", "other-secret");
  env("OPENAI_BASE_URL", "http://127.0.0.1:9000/v1");
  const Config config = load();
  const auto& anthropic = config.models.providers.at("anthropic");
  EXPECT_EQ(anthropic.kind, ProviderKind::anthropic);
  EXPECT_EQ(anthropic.api_key.value, kSecretValue);
  EXPECT_EQ(anthropic.api_key.origin, "environment ANTHROPIC_API_KEY");
  EXPECT_EQ(anthropic.base_url, "");
  const auto& openai = config.models.providers.at("openai");
  EXPECT_EQ(openai.kind, ProviderKind::openai);
  EXPECT_EQ(openai.base_url, "http://127.0.0.1:9000/v1");
  EXPECT_EQ(config.sources.at("models.providers.openai.base_url").text(), "environment OPENAI_BASE_URL");
}

TEST_F(ConfigTest, TakesEmptyVendorVariablesForUnset) {
  env("ANTHROPIC_API_KEY", "");
  env("OPENAI_BASE_URL", "");
  EXPECT_THAT(load().models.providers, IsEmpty());
}

TEST_F(ConfigTest, KeepsTheKeyThatTheFileNames) {
  test::write_file(data() + "/key", "from-the-file\n");
  file("[models.providers.anthropic]\nbase_url = \"https://gateway.example.com\"\napi_key_file = \"key\"\n");
  env("ANTHROPIC_API_KEY", kSecretValue);
  env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
  const Config config = load();
  const auto& provider = config.models.providers.at("anthropic");
  EXPECT_EQ(provider.api_key.value, "from-the-file") << "a key must not go to a host that was configured with another";
  EXPECT_EQ(provider.base_url, "http://127.0.0.1:1");
}

TEST_F(ConfigTest, LetsForgesOwnVariableWinOverTheVendors) {
  env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
  env("FORGE_MODELS__PROVIDERS__ANTHROPIC__BASE_URL", "http://127.0.0.1:2");
  EXPECT_EQ(load().models.providers.at("anthropic").base_url, "http://127.0.0.1:2");
}

TEST_F(ConfigTest, RemembersWhyASecretIsNotThere) {
  test::write_file(data() + "/empty", "\n");
  test::write_file(data() + "/lines", "a\nb\n");
  test::write_file(data() + "/folder/file", "");
  file(R"toml(
[models.providers.a]
kind = "openai"
api_key_env = "NOT_SET"
[models.providers.b]
kind = "openai"
api_key_file = "none"
[models.providers.c]
kind = "openai"
api_key_file = "empty"
[models.providers.d]
kind = "openai"
api_key_file = "lines"
[models.providers.e]
kind = "openai"
api_key_file = "folder"
)toml");
  const auto providers = load().models.providers;
  EXPECT_EQ(providers.at("a").api_key.problem, "environment variable NOT_SET is not set");
  EXPECT_EQ(providers.at("b").api_key.problem, data() + "/none: No such file or directory");
  EXPECT_EQ(providers.at("c").api_key.problem, "file " + data() + "/empty is empty");
  EXPECT_EQ(providers.at("d").api_key.problem, "file " + data() + "/lines holds more than one line");
  EXPECT_EQ(providers.at("e").api_key.problem, data() + "/folder: not a file");
  for (const auto& [name, provider] : providers) EXPECT_EQ(provider.api_key.value, "") << name;
}

TEST_F(ConfigTest, RefusesASecretFileThatIsTooLong) {
  test::write_file(data() + "/long", std::string(20'000, 'x'));
  file("[git.credentials.localhost]\ntoken_file = \"long\"\n");
  EXPECT_THAT(load().git.credentials.at("localhost").token.problem, HasSubstr("too long for a secret"));
}

TEST_F(ConfigTest, ReadsGitTokensByHost) {
  file(
      "[git.credentials.\"git.example.com\"]\ntoken_env = \"TOKEN\"\n[git.credentials.\"127.0.0.1:8080\"]\nusername = \"bot\"\ntoken_file "
      "= \"t\"\n");
  test::write_file(data() + "/t", "file-token");
  env("TOKEN", "  env-token \n");
  const auto credentials = load().git.credentials;
  EXPECT_EQ(credentials.at("git.example.com").token.value, "env-token");
  EXPECT_EQ(credentials.at("git.example.com").username, "x-access-token");
  EXPECT_EQ(credentials.at("127.0.0.1:8080").token.value, "file-token");
}

TEST_F(ConfigTest, WarnsOfASecretFileThatEverybodyCanRead) {
  const std::string key = data() + "/key";
  test::write_file(key, "secret-of-a-file");
  file("[models.providers.openai]\napi_key_file = \"key\"\n");
  ::chmod(key.c_str(), 0644);
  EXPECT_THAT(load().warnings, ElementsAre(key + " holds a secret and everybody can read it: chmod 600 " + key));
  ::chmod(key.c_str(), 0640);
  EXPECT_THAT(load().warnings, IsEmpty()) << "a group may be meant";
}

TEST_F(ConfigTest, WarnsOfASecretInAnOpenConfigurationFile) {
  file("[sandbox]\ne2bApiKey = \"e2b-0123456789\"\n");
  ::chmod((data() + "/forge.toml").c_str(), 0644);
  EXPECT_THAT(load().warnings, ElementsAre(HasSubstr("forge.toml holds a secret and everybody can read it")));
  ::chmod((data() + "/forge.toml").c_str(), 0600);
  EXPECT_THAT(load().warnings, IsEmpty());
}

TEST_F(ConfigTest, TakesTheKeysOfRemoteSandboxesFromTheirVariables) {
  file("[sandbox]\ne2bApiKey = \"from-the-file\"\n");
  env("E2B_API_KEY", "from-the-variable");
  env("DAYTONA_API_KEY", "daytona-secret");
  const Config config = load();
  EXPECT_EQ(config.sandbox.e2b_api_key, "from-the-variable");
  EXPECT_EQ(config.sandbox.daytona_api_key, "daytona-secret");
}

TEST_F(ConfigTest, NeverShowsASecret) {
  test::write_file(data() + "/key", std::string(kSecretValue) + "-file");
  file(R"toml([models.providers.mine]
kind = "openai"
api_key_file = "key"
headers = { Authorization = "Bearer sk-canary-header" }
[git.credentials.localhost]
token_env = "TOKEN"
)toml");
  env("TOKEN", "sk-canary-token");
  env("ANTHROPIC_API_KEY", kSecretValue);
  env("E2B_API_KEY", "sk-canary-e2b");
  for (const ShownKey& row : show(load())) {
    EXPECT_THAT(row.value, Not(HasSubstr("canary"))) << row.key;
    EXPECT_THAT(row.value_json, Not(HasSubstr("canary"))) << row.key;
    EXPECT_THAT(row.source, Not(HasSubstr("canary"))) << row.key;
  }
}

TEST_F(ConfigTest, NeverPutsASecretIntoAnError) {
  file("[models.providers.openai]\nheaders = \"Bearer sk-canary\"\n");
  EXPECT_THAT(failure(), Not(HasSubstr("canary")));
}

}  // namespace
}  // namespace forge::config
