#include "orchestrator/httpd/host_policy.h"

#include <gmock/gmock.h>

#include "orchestrator/base/error.h"

namespace forge::httpd {
namespace {

Request from(ListenerKind kind, const std::string& host) {
  Request request;
  request.listener = std::make_shared<ListenerInfo>(ListenerInfo{kind, "test"});
  request.headers = {{"host", host}};
  return request;
}

bool answers_to(const HostPolicy& policy, const std::string& host) {
  try {
    policy.check_host(from(ListenerKind::tcp, host));
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::permission_denied);
    return false;
  }
}

TEST(HostPolicy, WithoutAPublicUrlOnlyLoopbackNamesAreOurs) {
  const HostPolicy policy("");
  for (const char* host : {"localhost", "localhost:8700", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8700", "LOCALHOST"})
    EXPECT_TRUE(answers_to(policy, host)) << host;
  for (const char* host :
       {"evil.example", "localhost.evil.example", "192.168.1.4:8700", "127.0.0.1.evil.example", "localhost:x", "[::1", "a b", "@localhost"})
    EXPECT_FALSE(answers_to(policy, host)) << host;
}

TEST(HostPolicy, APublicUrlAddsItsName) {
  const HostPolicy policy("https://Forge.example:8443");
  EXPECT_TRUE(answers_to(policy, "forge.example:8443"));
  EXPECT_TRUE(answers_to(policy, "FORGE.example"));
  EXPECT_TRUE(answers_to(policy, "localhost:8700"));
  EXPECT_FALSE(answers_to(policy, "other.example"));
  EXPECT_TRUE(policy.is_https());
  EXPECT_EQ(policy.public_origin(), "https://forge.example:8443");
}

TEST(HostPolicy, AUnixSocketTakesAnyName) {
  const HostPolicy policy("");
  EXPECT_NO_THROW(policy.check_host(from(ListenerKind::local, "forge")));
}

TEST(HostPolicy, OnlyOurOwnPagesAreOfOurOrigin) {
  const HostPolicy local("");
  const Request request = from(ListenerKind::tcp, "localhost:8700");
  EXPECT_TRUE(local.is_own_origin(request, "http://localhost:8700"));
  for (const char* origin : {"http://localhost:3000", "https://localhost:8700", "http://evil.example", "null", ""})
    EXPECT_FALSE(local.is_own_origin(request, origin)) << origin;
  const HostPolicy open("https://forge.example");
  EXPECT_TRUE(open.is_own_origin(from(ListenerKind::tcp, "forge.example"), "https://forge.example"));
  EXPECT_FALSE(open.is_own_origin(from(ListenerKind::tcp, "forge.example"), "http://forge.example"));
  // A rebinding page names itself in Host and Origin alike.
  EXPECT_FALSE(local.is_own_origin(from(ListenerKind::tcp, "evil.example"), "http://evil.example"));
}

TEST(HostPolicy, RefusesPublicUrlsThatAreNone) {
  for (const char* url :
       {"forge.example", "ftp://forge.example", "https://forge.example/path", "https://", "https://u:p@forge.example", "https://x?y", "::"})
    EXPECT_THROW(HostPolicy{url}, Error) << url;
  EXPECT_NO_THROW(HostPolicy{"http://forge.example/"});
}

}  // namespace
}  // namespace forge::httpd
