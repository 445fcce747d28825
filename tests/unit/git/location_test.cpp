#include "orchestrator/git/location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace forge::git {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Location, ReadsPathsAndFileUrls) {
  for (const auto& [name, path] : std::vector<std::pair<std::string, std::string>>{{"/x/repo", "/x/repo"},
                                                                                   {"/x/repo///", "/x/repo"},
                                                                                   {"file:///x/a%20b", "/x/a b"},
                                                                                   {"FILE://localhost/x", "/x"},
                                                                                   {"/x/with:colon", "/x/with:colon"},
                                                                                   {"/a://b", "/a://b"}}) {
    const Location location = parse_location(name);
    EXPECT_EQ(location.kind, Location::Kind::local) << name;
    EXPECT_EQ(location.path, path);
  }
}

TEST(Location, ReadsHttpUrlsInOneSpelling) {
  const Location plain = parse_location("HTTPS://Git.Example.com:443/Team/repo.git/");
  EXPECT_EQ(plain.url, "https://git.example.com/Team/repo.git");
  EXPECT_EQ(plain.authority, "git.example.com");
  EXPECT_TRUE(plain.tls);
  const Location v6 = parse_location("http://[::1]:8080/x");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.authority, "[::1]:8080");
  EXPECT_EQ(v6.port, 8080);
}

TEST(Location, RefusesWhatItCannotUseAndSaysWhatWouldBeRight) {
  for (const auto& [name, code, text] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"", "invalid_argument", "no repository was named"},
           {"relative/path", "invalid_argument", "relative path"},
           {"git@github.com:a/b.git", "unsupported", "ssh is not supported"},
           {"ssh://git@host/x", "unsupported", "ssh is not supported"},
           {"git://host/x", "unsupported", "'git://' is not supported"},
           {"ftp://host/x", "unsupported", "'ftp://' is not supported"},
           {"ext::sh -c id", "unsupported", "'ext::' is not supported"},
           {"https::https://host/x", "unsupported", "'https::' is not supported"},
           {"file://host/x", "invalid_argument", "a path of this machine"},
           {"file:///x%2", "invalid_argument", "two hex digits"},
           {"file:///x%00y", "invalid_argument", "control character"},
           {"https://host", "invalid_argument", "no repository"},
           {"https:///x", "invalid_argument", "no host"},
           {"https://host:0/x", "invalid_argument", "port"},
           {"https://host:x/x", "invalid_argument", "port"},
           {"https://[::1/x", "invalid_argument", "']'"},
           {"https://host/x?y", "invalid_argument", "%XX"},
           {"https://host/x y", "invalid_argument", "%XX"},
           {"https://host/x\ny", "invalid_argument", "control character"},
           {std::string(5000, 'x'), "invalid_argument", "4096 bytes"}}) {
    const auto error = test::error_of([&, n = name] { check_repository_name(n); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(name_of(error->code()), code) << name;
    EXPECT_THAT(error->client_text(), HasSubstr(text)) << name;
    EXPECT_EQ(error->field(), "repository");
  }
}

TEST(Location, TellsThePathThatANameStandsForOnThisMachine) {
  EXPECT_EQ(local_path("/srv/x/"), "/srv/x");
  EXPECT_EQ(local_path("file:///srv/%2e%2e/x"), "/srv/../x");
  EXPECT_EQ(local_path("FILE://localhost/srv/x"), "/srv/x");
  EXPECT_EQ(local_path("https://host/srv/x"), std::nullopt);
}

TEST(Location, RefusesCredentialsWithoutRepeatingThem) {
  for (const std::string& url :
       std::vector<std::string>{"https://user:hunter22@host/x", "https://hunter22@host/x", "http://a:hunter22@[::1]/x"}) {
    const auto error = test::error_of([&] { check_repository_name(url); });
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error->hint(), HasSubstr("git.credentials"));
    EXPECT_THAT(std::string(error->what()) + error->client_text() + error->hint(), Not(HasSubstr("hunter22")));
  }
}

TEST(Location, IsShownWithoutCredentials) {
  EXPECT_EQ(without_credentials("https://user:pw@host/x"), "https://host/x");
  EXPECT_EQ(without_credentials("https://token@host:8/x"), "https://host:8/x");
  EXPECT_EQ(without_credentials("https://user:p@w@host/x"), "https://host/x");
  EXPECT_EQ(without_credentials("https://user:p/w@host/x"), "https://host/x");
  EXPECT_EQ(without_credentials("https://host:8/@scope/x"), "https://host:8/@scope/x");
  EXPECT_EQ(without_credentials("https://host/@scope/x"), "https://host/@scope/x");
  EXPECT_EQ(without_credentials("https://user@host"), "https://host");
  EXPECT_EQ(without_credentials("/a/path@x"), "/a/path@x");
}

std::string secret_for(const std::string& url, const std::vector<Credential>& credentials) {
  const auto found = credential_for(parse_location(url), credentials);
  return found ? found->secret : "none";
}

TEST(Location, GivesACredentialToItsOwnHostAndPortOnly) {
  const std::vector<Credential> all{{"git.example.com", "u", "one"}, {"Other.example.com:8443", "u", "two"}};
  EXPECT_EQ(secret_for("https://git.example.com/x", all), "one");
  EXPECT_EQ(secret_for("https://GIT.example.com:443/x", all), "one");
  EXPECT_EQ(secret_for("https://git.example.com:444/x", all), "none");
  EXPECT_EQ(secret_for("https://git.example.com.evil.org/x", all), "none");
  EXPECT_EQ(secret_for("https://other.example.com:8443/x", all), "two");
  EXPECT_EQ(secret_for("https://other.example.com/x", all), "none");
}

TEST(Location, SendsACredentialInTheClearOnlyWhenItsPortIsNamed) {
  EXPECT_EQ(secret_for("http://git.example.com/x", {{"git.example.com", "u", "one"}}), "none");
  EXPECT_EQ(secret_for("http://git.example.com/x", {{"git.example.com:80", "u", "one"}}), "one");
  EXPECT_EQ(secret_for("http://localhost/x", {{"localhost", "u", "one"}}), "one");
  EXPECT_EQ(secret_for("http://127.0.0.1/x", {{"127.0.0.1", "u", "one"}}), "one");
  EXPECT_EQ(secret_for("http://127.example.com/x", {{"127.example.com", "u", "one"}}), "none");
}

}  // namespace
}  // namespace forge::git
