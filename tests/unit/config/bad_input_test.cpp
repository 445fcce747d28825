#include "tests/unit/config/fixture.h"

namespace forge::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct BadFile {
  const char* name;
  const char* text;
  const char* says;
};
void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.name; }

class BadFiles : public ConfigTest, public testing::WithParamInterface<BadFile> {};

TEST_P(BadFiles, AreRefusedWithFileLineAndWhatWouldBeRight) {
  file(GetParam().text);
  EXPECT_EQ(failure(), GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadFiles,
    testing::Values(
        BadFile{"unknown_key", "[jobs]\nmax_turn = 3\n", "forge.toml:2: unknown key jobs.max_turn\ndid you mean jobs.max_turns?"},
        BadFile{"unknown_section", "[job]\nmax_turns = 3\n", "forge.toml:1: unknown key job\nforge config show lists every key"},
        BadFile{"unknown_key_of_an_entry", "[models.providers.mine]\nbase_ulr = \"x\"\n",
                "forge.toml:2: unknown key models.providers.mine.base_ulr\ndid you mean models.providers.mine.base_url?"},
        BadFile{"unknown_key_of_a_host", "[git.credentials.\"git.example.com\"]\ntoken_evn = \"T\"\n",
                "forge.toml:2: unknown key git.credentials.\"git.example.com\".token_evn\n"
                "did you mean git.credentials.\"git.example.com\".token_env?"},
        BadFile{"seed_name", "[sandbox]\ntimeout = 30000\n", "forge.toml:2: unknown key sandbox.timeout\ndid you mean sandbox.timeout_ms?"},
        BadFile{"entry_name", "[templates.\"a b\"]\npids = 9\n",
                "forge.toml:1: unknown key templates.\"a b\"\nforge config show lists every key"},
        BadFile{"not_a_section", "jobs = 3\n", "forge.toml:1: jobs must be a section\nwrite [jobs]"},
        BadFile{"integer_range", "[jobs]\n\nconcurrency = 0\n", "forge.toml:3: jobs.concurrency must be an integer from 1 to 64, not 0"},
        BadFile{"integer_type", "[jobs]\nmax_turns = \"50\"\n",
                "forge.toml:2: jobs.max_turns must be an integer from 1 to 10000, not \"50\""},
        BadFile{"integer_fraction", "[jobs]\nmax_turns = 1.5\n",
                "forge.toml:2: jobs.max_turns must be an integer from 1 to 10000, not 1.5"},
        BadFile{"flag_type", "[jobs]\npush_partial = 1\n", "forge.toml:2: jobs.push_partial must be true or false, not 1"},
        BadFile{"number_range", "[sandbox]\ncpus = 0\n", "forge.toml:2: sandbox.cpus must be a number above 0, at most 1024, not 0"},
        BadFile{"number_nan", "[sandbox]\ncpus = nan\n", "forge.toml:2: sandbox.cpus must be a number above 0, at most 1024, not nan"},
        BadFile{"choice", "[sandbox]\npolicy = \"lax\"\n", "forge.toml:2: sandbox.policy must be one of strict, degraded, not \"lax\""},
        BadFile{"choice_text", "[sandbox]\nprovider = \"podman\"\n",
                "forge.toml:2: sandbox.provider must be one of local, docker, e2b, daytona, none, not \"podman\""},
        BadFile{"address", "[server]\nlisten = \"8700\"\n",
                "forge.toml:2: server.listen must be an address and port such as 127.0.0.1:8700, not \"8700\""},
        BadFile{"port", "[server]\nlisten = \"127.0.0.1:70000\"\n",
                "forge.toml:2: server.listen must be an address and port such as 127.0.0.1:8700, not \"127.0.0.1:70000\""},
        BadFile{"url", "[server]\npublic_url = \"forge.example.com\"\n",
                "forge.toml:2: server.public_url must be an http or https URL without user, password or query, not \"forge.example.com\""},
        BadFile{"host", "[network]\nallow = [\"https://pkg.test\"]\n",
                "forge.toml:2: network.allow must be a list, each of it a host name such as example.com or *.example.com, with :port if "
                "needed, "
                "not a list"},
        BadFile{"list", "[network]\nallow = \"pkg.test\"\n",
                "forge.toml:2: network.allow must be a list, each of it a host name such as example.com or *.example.com, with :port if "
                "needed, "
                "not \"pkg.test\""},
        BadFile{"mixed_list", "[templates.base]\npackages = [\"a\", 1]\n",
                "forge.toml:2: templates.base.packages must be a list, each of it one word, not a list that holds more than texts"},
        BadFile{"date", "[git]\nauthor_name = 2026-01-01\n",
                "forge.toml:2: git.author_name must be one line without < and >, not a date or time"},
        BadFile{"empty_name", "[git]\nauthor_name = \"\"\n", "forge.toml:2: git.author_name must be one line without < and >, not \"\""},
        BadFile{"money", "[budget]\nrun_usd = -1\n",
                "forge.toml:2: budget.run_usd must be an amount in dollars above 0 such as 1.5 (leave it out for no limit), not -1"},
        BadFile{"money_text", "[budget]\nrun_usd = \"1 EUR\"\n",
                "forge.toml:2: budget.run_usd must be an amount in dollars above 0 such as 1.5 (leave it out for no limit), not \"1 EUR\""},
        BadFile{"no_money", "[budget]\nrun_usd = 0\n",
                "forge.toml:2: budget.run_usd must be an amount in dollars above 0 such as 1.5 (leave it out for no limit), not 0"},
        BadFile{"no_money_of_a_job", "[budget]\njob_usd = \"0.00\"\n",
                "forge.toml:2: budget.job_usd must be an amount in dollars above 0 such as 1.5 (leave it out for no limit), not \"0.00\""},
        BadFile{"no_money_of_a_day", "[budget]\nday_usd = 0.0\n",
                "forge.toml:2: budget.day_usd must be an amount in dollars above 0 such as 1.5 (leave it out for no limit), not 0"},
        BadFile{"headers", "[models.providers.openai]\nheaders = { a = 1 }\n",
                "forge.toml:2: models.providers.openai.headers must be a table of texts"},
        BadFile{"secret_type", "[sandbox]\ne2bApiKey = 12345678\n", "forge.toml:2: sandbox.e2bApiKey must be a text"},
        BadFile{"no_kind", "[models.providers.mine]\nbase_url = \"http://h/v1\"\n",
                "models.providers.mine.kind is missing\nwrite kind = \"anthropic\" or kind = \"openai\""},
        BadFile{"two_keys", "[models.providers.openai]\napi_key_env = \"K\"\napi_key_file = \"/k\"\n",
                "models.providers.openai names both a variable (K) and a file (/k)\nkeep one of the two"},
        BadFile{"half_a_price", "[models.fallback_price]\ninput_usd = 1\n",
                "models.fallback_price needs input_usd and output_usd\n0 is a price, too"},
        BadFile{"open_listener", "[server]\nlisten = \"0.0.0.0:8700\"\n",
                "forge.toml:2: server.listen is 0.0.0.0:8700, which others can reach, and server.public_url is not set\n"
                "set server.public_url to the URL that browsers use, or listen on 127.0.0.1"},
        BadFile{"name_like_loopback", "[server]\nlisten = \"127.example.com:8700\"\n",
                "forge.toml:2: server.listen is 127.example.com:8700, which others can reach, and server.public_url is not set\n"
                "set server.public_url to the URL that browsers use, or listen on 127.0.0.1"}),
    [](const auto& one) { return one.param.name; });

TEST_F(ConfigTest, NamesTheLineOfWhatIsNotToml) {
  file("[jobs]\nmax_turns = = 3\n");
  EXPECT_THAT(failure(), StartsWith("forge.toml:2: "));
  EXPECT_THAT(failure(), HasSubstr("TOML: key = value"));
}

TEST_F(ConfigTest, RefusesAKeyGivenTwice) {
  file("[jobs]\nmax_turns = 3\nmax_turns = 4\n");
  EXPECT_THAT(failure(), StartsWith("forge.toml:3: "));
}

TEST_F(ConfigTest, NamesTheVariableOfABadValue) {
  env("FORGE_JOBS__CONCURRENCY", "many");
  EXPECT_EQ(failure(), "environment variable FORGE_JOBS__CONCURRENCY: jobs.concurrency must be an integer from 1 to 64, not \"many\"");
  EXPECT_EQ(field_, "jobs.concurrency");
}

TEST_F(ConfigTest, NamesTheNearestKeyOfAnUnknownVariable) {
  env("FORGE_JOBS__MAX_TURN", "3");
  EXPECT_EQ(failure(), "environment variable FORGE_JOBS__MAX_TURN: unknown key jobs.max_turn\ndid you mean jobs.max_turns?");
}

TEST_F(ConfigTest, SeesAVariableWithOneUnderscoreMissing) {
  env("FORGE_JOBS_MAX_TURNS", "3");
  EXPECT_EQ(failure(),
            "environment variable FORGE_JOBS_MAX_TURNS: a section and its key are separated by two underscores\n"
            "write FORGE_JOBS__MAX_TURNS");
}

TEST_F(ConfigTest, RefusesAHostInAVariableName) {
  env("FORGE_GIT__CREDENTIALS__EXAMPLE__TOKEN_ENV", "T");
  EXPECT_THAT(failure(), HasSubstr("a host cannot be part of a variable's name\nset git.credentials in the configuration file"));
}

TEST_F(ConfigTest, NamesTheVariableOfABadVendorUrl) {
  env("OPENAI_BASE_URL", "localhost:8080");
  EXPECT_EQ(failure(), "environment variable OPENAI_BASE_URL: must be an http or https URL without user, password or query");
}

TEST_F(ConfigTest, NamesTheFlagOfABadValue) {
  flag("server.listen", "here", "--listen");
  EXPECT_EQ(failure(), "--listen: server.listen must be an address and port such as 127.0.0.1:8700, not \"here\"");
}

TEST_F(ConfigTest, NamesTheNearestKeyOfAnUnknownFlagKey) {
  flag("server.listn", "127.0.0.1:1", "--set");
  EXPECT_EQ(failure(), "--set: unknown key server.listn\ndid you mean server.listen?");
}

TEST_F(ConfigTest, RefusesANamedFileThatIsNotThere) {
  EXPECT_THROW(load_config({.file = data() + "/none.toml", .data_dir = data(), .environment = environment_}), Error);
  try {
    load_config({.file = data(), .data_dir = data(), .environment = environment_});
    FAIL() << "a directory is no file";
  } catch (const Error& e) {
    EXPECT_THAT(e.client_text(), HasSubstr(": not a file"));
  }
}

TEST_F(ConfigTest, RefusesAHugeFile) {
  file(std::string((1 << 20) + 1, '#'));
  EXPECT_THAT(failure(), HasSubstr("are too many for a configuration"));
}

TEST_F(ConfigTest, RefusesASocketPathTheKernelCannotTake) {
  flag("server.socket", "/" + std::string(120, 's'), "--set");
  EXPECT_THAT(failure(), HasSubstr("the path of the unix socket is longer than 107 bytes"));
}

TEST_F(ConfigTest, SaysThatThereIsNoDataDirectory) {
  try {
    load_config({});
    FAIL() << "no directory to be had";
  } catch (const Error& e) {
    EXPECT_EQ(e.client_text(), "no data directory: neither FORGE_DATA_DIR nor HOME is set");
    EXPECT_EQ(e.hint(), "name one with --data-dir");
  }
}

TEST_F(ConfigTest, ShortensALongValueInAnError) {
  file("[sandbox]\npolicy = \"" + std::string(500, 'x') + "\"\n");
  EXPECT_LT(failure().size(), 200u);
}

}  // namespace
}  // namespace forge::config
