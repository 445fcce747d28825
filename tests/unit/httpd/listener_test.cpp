#include "orchestrator/httpd/listener.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "orchestrator/base/error.h"
#include "tests/support/raw_http.h"
#include "tests/support/temp_dir.h"

namespace forge::httpd {
namespace {

using testing::StartsWith;

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  }
  return ErrorCode::internal;
}

TEST(Listener, PortZeroTakesAFreeOne) {
  const Listener listener = listen_tcp("127.0.0.1:0");
  EXPECT_THAT(bound_address(listener), StartsWith("127.0.0.1:"));
  EXPECT_NE(bound_address(listener), "127.0.0.1:0");
}

TEST(Listener, AnAddressInUseIsAConflict) {
  const Listener first = listen_tcp("127.0.0.1:0");
  EXPECT_EQ(code_of([&] { (void)listen_tcp(bound_address(first)); }), ErrorCode::conflict);
}

TEST(Listener, AnAddressThatIsNoneIsBadInput) {
  for (const char* address : {"", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "not a host:1"})
    EXPECT_EQ(code_of([&] { (void)listen_tcp(address); }), ErrorCode::invalid_argument) << address;
}

TEST(Listener, AUnixSocketIsForItsOwnerOnly) {
  const test::TempDir directory;
  const std::string path = directory.str() + "/forge.sock";
  const Listener listener = listen_unix(path);
  struct stat status {};
  ASSERT_EQ(::lstat(path.c_str(), &status), 0);
  EXPECT_TRUE(S_ISSOCK(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST(Listener, AStaleSocketFileIsReplaced) {
  const test::TempDir directory;
  const std::string path = directory.str() + "/forge.sock";
  { const Listener dead = listen_unix(path); }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_NO_THROW(listen_unix(path));
}

TEST(Listener, ASocketInUseIsAConflict) {
  const test::TempDir directory;
  const std::string path = directory.str() + "/forge.sock";
  const Listener live = listen_unix(path);
  EXPECT_EQ(code_of([&] { (void)listen_unix(path); }), ErrorCode::conflict);
  EXPECT_NO_THROW(test::RawClient::unix_socket(path));
}

TEST(Listener, AnotherKindOfFileIsLeftAlone) {
  const test::TempDir directory;
  const std::string path = directory.str() + "/forge.sock";
  std::ofstream(path) << "precious";
  EXPECT_EQ(code_of([&] { (void)listen_unix(path); }), ErrorCode::conflict);
  EXPECT_EQ(std::filesystem::file_size(path), 8U);
}

TEST(Listener, APathTooLongForTheKernelIsBadInput) {
  EXPECT_EQ(code_of([] { (void)listen_unix("/tmp/" + std::string(103, 'x')); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace forge::httpd
