#include "adapters/claude_code/install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "orchestrator/base/text.h"
#include "tests/support/errors.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace forge::adapters::claude_code {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Shell scripts in the place of npm; what they install is a shell script, too.
class ClaudeInstall : public testing::Test {
 protected:
  void npm(const std::string& body) {
    fs::create_directories(dir_ / "bin");
    test::write_file(dir_ / "bin/npm", "#!/bin/sh\necho \"$@\" > " + dir_.str() + "/arguments\n" + body);
    fs::permissions(dir_ / "bin/npm", fs::perms(0755));
  }
  /// An npm that installs a program which says `version`.
  void good_npm(const std::string& version = "2.1.332", const std::string& variant = "") {
    npm("grep -q '\"@anthropic-ai/claude-code\": \"2.1.332\"' package.json && grep -q integrity package-lock.json || exit 9\n"
        "for arch in x64 arm64; do d=node_modules/@anthropic-ai/claude-code-linux-$arch" +
        variant + "; mkdir -p $d; printf '#!/bin/sh\\necho \"" + version + " (Claude Code)\"\\n' > $d/claude; done\n");
  }
  bool install() {
    // The machine's own npm is never asked.
    Npm found = find_npm({"PATH=/nonexistent:" + (dir_ / "bin").string(), "HOME=" + dir_.str()});
    found.environment = {"PATH=/usr/bin:/bin"};
    return claude_code::install(
        home_, found, [this](const std::string& text) { told_.push_back(text); }, test::soon());
  }
  Error refusal() {
    return test::error_of([&] { install(); }).value_or(Error(ErrorCode::internal, "nothing was thrown"));
  }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    if (!fs::exists(home_.folder)) return names;
    for (const auto& entry : fs::directory_iterator(home_.folder))
      if (entry.path().filename() != ".lock") names.push_back(entry.path().filename().string());
    return names;
  }

  test::TempDir dir_;
  Home home_{(dir_ / "data/adapters/claude-code").string()};
  std::vector<std::string> told_;
};

TEST_F(ClaudeInstall, PutsTheProgramOfThisMachineInItsPlace) {
  good_npm();
  EXPECT_FALSE(home_.installed());
  EXPECT_TRUE(install());
  EXPECT_TRUE(home_.installed());
  EXPECT_EQ(version_of(home_.program(), test::soon()), "2.1.332");
  EXPECT_EQ(fs::status(fs::canonical(home_.program())).permissions(), fs::perms(0755)) << "another user runs it in the sandbox";
  EXPECT_THAT(left(), ElementsAre("2.1.332"));
  EXPECT_THAT(test::read_file(dir_ / "arguments"), testing::StartsWith("ci --ignore-scripts "));
  EXPECT_THAT(told_.at(0), HasSubstr("400 MB"));
  EXPECT_FALSE(install()) << "it is there";
}

TEST_F(ClaudeInstall, FindsTheProgramOfAnotherCLibrary) {
  good_npm("2.1.332", "-musl");
  EXPECT_TRUE(install());
}

TEST_F(ClaudeInstall, SaysThatNpmIsMissing) {
  const Error error = refusal();
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_THAT(error.client_text(), HasSubstr("npm is not installed"));
  EXPECT_THAT(error.hint(), HasSubstr("apt-get install npm"));
  EXPECT_FALSE(fs::exists(home_.folder));
}

TEST_F(ClaudeInstall, SaysThatTheRegistryCannotBeReached) {
  npm("mkdir -p node_modules/half; echo 'npm error code ENOTFOUND' >&2; echo 'npm error getaddrinfo ENOTFOUND registry.example' >&2; exit "
      "1\n");
  const Error error = refusal();
  EXPECT_THAT(error.client_text(), HasSubstr("npm cannot reach its registry"));
  EXPECT_THAT(error.client_text(), HasSubstr("registry.example"));
  EXPECT_THAT(error.hint(), HasSubstr("npm config get registry"));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ClaudeInstall, SaysWhatNpmSaidOtherwise) {
  npm("echo 'npm error code EINTEGRITY' >&2; exit 1\n");
  EXPECT_THAT(refusal().client_text(), HasSubstr("is not what was published"));
  npm("echo 'something else broke' >&2; exit 1\n");
  EXPECT_THAT(refusal().client_text(), HasSubstr("something else broke"));
}

TEST_F(ClaudeInstall, DoesNotBelieveAnNpmThatInstalledNothing) {
  npm("exit 0\n");
  const Error error = refusal();
  EXPECT_THAT(error.client_text(), HasSubstr("@anthropic-ai/claude-code-linux-"));
  EXPECT_FALSE(home_.installed());
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ClaudeInstall, RefusesAnotherVersionAndAProgramThatDoesNotRun) {
  good_npm("9.9.9");
  EXPECT_THAT(refusal().client_text(), HasSubstr("9.9.9 instead of 2.1.332"));
  good_npm("2.1.332\"; kill -ILL $$; echo \"");
  EXPECT_THAT(refusal().client_text(), HasSubstr("AVX"));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ClaudeInstall, NeverUsesAnInstallationThatWasKilledHalfWay) {
  fs::create_directories(home_.folder + "/.new/node_modules");
  fs::create_directories(home_.version_folder() + "/node_modules");
  test::write_file(home_.folder + "/.new/package.json", "{");
  EXPECT_FALSE(home_.installed());
  good_npm();
  EXPECT_TRUE(install());
  EXPECT_TRUE(home_.installed());
  EXPECT_THAT(left(), ElementsAre("2.1.332"));
}

TEST_F(ClaudeInstall, IsCancelledWithoutALeftover) {
  npm("exec tail -f /dev/null\n");
  std::stop_source cancel;
  cancel.request_stop();
  const Npm found = find_npm({"PATH=" + (dir_ / "bin").string()});
  EXPECT_EQ(test::code_of([&] {
              claude_code::install(
                  home_, found, [](const std::string&) {}, Stop(cancel.get_token()));
            }),
            "cancelled");
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ClaudeInstall, RemovesEveryVersion) {
  good_npm();
  install();
  fs::create_directories(home_.folder + "/2.0.0/node_modules");
  EXPECT_TRUE(uninstall(home_));
  EXPECT_FALSE(fs::exists(home_.folder));
  EXPECT_FALSE(uninstall(home_));
}

}  // namespace
}  // namespace forge::adapters::claude_code
