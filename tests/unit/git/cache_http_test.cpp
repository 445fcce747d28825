#include "tests/support/git_http_server.h"
#include "tests/support/loopback_server.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class CacheHttp : public GitTest {
 protected:
  void SetUp() override {
    if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
  }
  void start(test::GitHttpServer::Options options = {}) { server_.emplace(std::move(options)); }

  /// A repository with one commit of `repo_` behind the server.
  void serve(const std::string& name) {
    const fs::path bare = server_->make_repository(name);
    repo_.git({"push", "--quiet", bare.string(), "main"});
    served_ = bare;
  }
  void open_with(std::vector<Credential> credentials, std::string ca_file = "") {
    auto all = options();
    all.credentials = std::move(credentials);
    all.ca_file = std::move(ca_file);
    cache_ = open_repository_cache(std::move(all));
  }
  Error failure(const std::string& url, const std::string& base = "") {
    return *test::error_of([&] { cache().fetch(url, base, soon()); });
  }

  test::TempRepo repo_;
  std::optional<test::GitHttpServer> server_;
  fs::path served_;
};

TEST_F(CacheHttp, FetchesChecksOutAndPushesWithAToken) {
  start({.username = "x-access-token", .password = "ghs_secret.with-odd_characters"});
  repo_.write("f", "1");
  const std::string head = repo_.commit("one");
  serve("a.git");
  open_with({{.host = server_->authority(), .username = "x-access-token", .secret = "ghs_secret.with-odd_characters"}});

  const std::string url = server_->url("a.git");
  const Base base = cache().fetch(url, "", soon());
  EXPECT_EQ(base.commit, head);
  EXPECT_EQ(base.ref, "refs/heads/main");
  EXPECT_EQ(test::read_file(fs::path(cache().checkout(base, soon())->directory()) / "f"), "1");

  const auto builder = cache().build_commit(base);
  add(*builder, "g", "new\n");
  const auto made = commit(*builder, "forge/abc-1");
  cache().push(base, made.commit, "forge/abc-1", soon());
  EXPECT_EQ(test::run_git(served_, {"rev-parse", "forge/abc-1"}), made.commit);
  EXPECT_EQ(test::run_git(served_, {"show", "forge/abc-1:g"}), "new");
  EXPECT_EQ(test::run_git(served_, {"rev-parse", "main"}), head);
  EXPECT_THAT(server_->log(), Not(HasSubstr("ghs_")));
  EXPECT_EQ(test::code_of([&] { cache().push(base, made.commit, "forge/abc-1", soon()); }), "conflict");
}

TEST_F(CacheHttp, ListsBranchesAndBringsNothing) {
  start({.username = "u", .password = "p"});
  repo_.write("f", "1");
  repo_.commit("one");
  repo_.git({"branch", "another"});
  repo_.git({"tag", "v1"});
  serve("a.git");
  repo_.git({"push", "--quiet", served_.string(), "another", "v1"});
  EXPECT_EQ(test::error_of([&] { cache().branches(server_->url("a.git"), soon()); })->code(), ErrorCode::unauthenticated);
  open_with({{.host = server_->authority(), .username = "u", .secret = "p"}});
  const Branches branches = cache().branches(server_->url("a.git"), soon());
  EXPECT_EQ(branches.default_branch, "main");
  EXPECT_EQ(branches.names, (std::vector<std::string>{"main", "another"})) << "the default first";
  EXPECT_FALSE(branches.more);
  EXPECT_TRUE(fs::is_empty(fs::path(options().directory) / "mirrors"));
}

TEST_F(CacheHttp, SeesNewCommitsTagsAndNamedReferences) {
  start();
  repo_.write("f", "1");
  repo_.commit("one");
  serve("a.git");
  const std::string url = server_->url("a.git");
  cache().fetch(url, "", soon());
  repo_.write("f", "2");
  const std::string second = repo_.commit("two");
  repo_.git({"tag", "-a", "-m", "a tag", "v1"});
  repo_.git({"push", "--quiet", served_.string(), "main", "v1", "main:refs/pull/3/head"});
  EXPECT_EQ(cache().fetch(url, "", soon()).commit, second);
  const Base tag = cache().fetch(url, "v1", soon());
  EXPECT_EQ(tag.commit, second);
  EXPECT_EQ(tag.ref, "refs/tags/v1");
  EXPECT_EQ(cache().fetch(url, "refs/pull/3/head", soon()).commit, second);
  EXPECT_EQ(cache().fetch(url, second.substr(0, 8), soon()).commit, second);
  EXPECT_EQ(test::code_of([&] { cache().fetch(url, "refs/pull/4/head", soon()); }), "not_found");
  repo_.git({"push", "--quiet", served_.string(), ":v1"});
  EXPECT_EQ(test::code_of([&] { cache().fetch(url, "v1", soon()); }), "not_found");
}

TEST_F(CacheHttp, SeesADetachedHeadThatNoBranchHolds) {
  start();
  repo_.write("f", "1");
  repo_.commit("one");
  serve("a.git");
  repo_.write("f", "2");
  const std::string second = repo_.commit("two");
  repo_.git({"push", "--quiet", served_.string(), "main:refs/pull/1/head"});
  test::run_git(served_, {"update-ref", "--no-deref", "HEAD", second});
  EXPECT_EQ(cache().fetch(server_->url("a.git"), "", soon()).commit, second);
}

TEST_F(CacheHttp, AsksForCredentialsThatAreNotConfigured) {
  start({.username = "u", .password = "p"});
  repo_.commit("one");
  serve("a.git");
  const Error error = failure(server_->url("a.git"));
  EXPECT_EQ(name_of(error.code()), "unauthenticated");
  EXPECT_THAT(error.client_text(), HasSubstr("needs authentication, and no credentials are configured for its host"));
  EXPECT_EQ(error.hint(), "set git.credentials.\"" + server_->authority() + "\" with token_env or token_file");
  EXPECT_TRUE(fs::is_empty(data_ / "mirrors"));
}

TEST_F(CacheHttp, SaysThatCredentialsAreRefused) {
  start({.username = "u", .password = "right-password"});
  repo_.commit("one");
  serve("a.git");
  open_with({{.host = server_->authority(), .username = "u", .secret = "wrong-password"}});
  const Error error = failure(server_->url("a.git"));
  EXPECT_EQ(name_of(error.code()), "unauthenticated");
  EXPECT_THAT(error.client_text(), HasSubstr("refuses the configured credentials"));
  EXPECT_THAT(std::string(error.what()) + error.client_text() + error.hint(), Not(HasSubstr("wrong-password")));
}

TEST_F(CacheHttp, TellsWhatTheServersHookSaid) {
  start();
  repo_.write("f", "1");
  repo_.commit("one");
  serve("a.git");
  server_->set_pre_receive_hook("a.git", "echo 'branches need a \033[31mticket\033[0m number' >&2; exit 1\n");
  const Base base = cache().fetch(server_->url("a.git"), "", soon());
  const auto builder = cache().build_commit(base);
  add(*builder, "g", "new");
  const auto made = commit(*builder);
  const auto error = test::error_of([&] { cache().push(base, made.commit, "forge/test-1", soon()); });
  EXPECT_EQ(name_of(error->code()), "permission_denied");
  EXPECT_THAT(error->client_text(), AllOf(HasSubstr("pre-receive hook declined"), HasSubstr("ticket"), Not(HasSubstr("\033"))));
}

TEST_F(CacheHttp, RefusesAnEmptyRepositoryAMissingOneAndSha256) {
  start();
  server_->make_repository("empty.git");
  EXPECT_THAT(failure(server_->url("empty.git")).client_text(), HasSubstr("is empty"));
  const Error missing = failure(server_->url("missing.git"));
  EXPECT_EQ(name_of(missing.code()), "not_found");
  EXPECT_THAT(missing.client_text(), HasSubstr("holds no repository"));

  const fs::path sha256 = server_->make_repository("sha256.git", "sha256");
  const test::TempDir work;
  test::run_git(work.path(), {"init", "--quiet", "--object-format=sha256", "--initial-branch=main"});
  test::run_git(work.path(), {"commit", "--quiet", "--allow-empty", "-m", "one"});
  test::run_git(work.path(), {"push", "--quiet", sha256.string(), "main"});
  const Error error = failure(server_->url("sha256.git"));
  EXPECT_EQ(name_of(error.code()), "unsupported") << error.what();
  EXPECT_THAT(error.client_text(), HasSubstr("SHA-256"));
}

TEST_F(CacheHttp, ChecksTheServersCertificate) {
  start({.tls = true});
  repo_.write("f", "1");
  const std::string head = repo_.commit("one");
  serve("a.git");
  const Error error = failure(server_->url("a.git"));
  EXPECT_EQ(name_of(error.code()), "unavailable") << error.what();
  EXPECT_THAT(error.client_text(), HasSubstr("certificate that is not trusted"));
  open_with({}, server_->ca_file());
  EXPECT_EQ(cache().fetch(server_->url("a.git"), "", soon()).commit, head);
}

}  // namespace
}  // namespace forge::git
