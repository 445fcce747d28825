#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include <filesystem>

#include "orchestrator/crypto/crypto.h"
#include "orchestrator/store/blobs.h"
#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

template <typename Backend>
class StoredBlobs : public StoreTest<Backend> {};
TYPED_TEST_SUITE(StoredBlobs, Backends);

TYPED_TEST(StoredBlobs, AreNamedByTheirContent) {
  const std::string data("bytes \0 \xff", 9);
  const std::string id = this->store().put_blob(data);
  EXPECT_EQ(id, crypto::sha256_hex(data));
  EXPECT_EQ(this->store().put_blob(data), id);
  this->reopen();
  EXPECT_EQ(this->store().blob(id), data);
  EXPECT_EQ(this->store().blob(this->store().put_blob("")), "");
}

TYPED_TEST(StoredBlobs, OfTextsHoldNoSecret) {
  this->redactor_.add("a-secret-of-this-test");
  const std::string id = this->store().put_redacted_blob("said: a-secret-of-this-test.");
  EXPECT_EQ(this->store().blob(id), "said: [redacted].");
}

TYPED_TEST(StoredBlobs, ThatDoNotExistAreNotFound) {
  EXPECT_EQ(error_of([&] { this->store().blob(crypto::sha256_hex("nothing")); }), "not_found: no such blob");
  for (const char* id : {"", "../../etc/passwd", "ABCD", "0123"})
    EXPECT_EQ(error_of([&] { this->store().blob(id); }), "not_found: no such blob");
}

class BlobFiles : public testing::Test {
 protected:
  fs::path file_of(const std::string& id) const { return fs::path(path_) / id.substr(0, 2) / id.substr(2); }
  test::TempDir directory_;
  std::string path_ = directory_.str() + "/blobs";
  Blobs blobs_{path_};
};

TEST_F(BlobFiles, ThatFindNoRoomAreNotTooLarge) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);  // the write fails instead
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const std::string error = error_of([&] { blobs_.put("data"); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_THAT(error, StartsWith("unavailable: "));
}

TEST_F(BlobFiles, ArePrivate) {
  const fs::path file = file_of(blobs_.put("data"));
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

TEST_F(BlobFiles, ThatWereTamperedWithAreCorrupt) {
  const std::string id = blobs_.put("data");
  test::write_file(file_of(id), "DATA");
  EXPECT_THAT(error_of([&] { blobs_.get(id); }), StartsWith("corrupt"));
}

TEST_F(BlobFiles, ThatWereCutOffAreWrittenAnew) {
  const std::string id = blobs_.put("data");
  test::write_file(file_of(id), "da");
  EXPECT_EQ(blobs_.put("data"), id);
  EXPECT_EQ(blobs_.get(id), "data");
}

TEST_F(BlobFiles, ThatBecameLinksAreNotFollowed) {
  const std::string id = blobs_.put("data");
  test::write_file(directory_ / "elsewhere", "data");
  fs::remove(file_of(id));
  fs::create_symlink(directory_ / "elsewhere", file_of(id));
  EXPECT_NE(error_of([&] { blobs_.get(id); }), "no error");
}

TEST_F(BlobFiles, HalfWrittenByADeadProcessAreSweptAtTheStart) {
  test::write_file(fs::path(path_) / "unfinished" / "abc", "half");
  const std::string id = blobs_.put("kept");
  const Blobs again(path_);
  EXPECT_TRUE(fs::is_empty(fs::path(path_) / "unfinished"));
  EXPECT_EQ(again.get(id), "kept");
}

TEST_F(BlobFiles, PutByManyThreadsAtOnceAreOne) {
  on_threads(8, [&](int) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(blobs_.get(blobs_.put(std::to_string(i))), std::to_string(i));
  });
  EXPECT_TRUE(fs::is_empty(fs::path(path_) / "unfinished"));
}

TEST_F(BlobFiles, OverTheLimitAreRefused) {
  const char byte = 'x';
  const std::string_view too_long(&byte, Blobs::kMaxBytes + 1);  // refused by its size, before it is looked at
  EXPECT_THAT(error_of([&] { blobs_.put(too_long); }), StartsWith("limit_exceeded"));
}

}  // namespace
}  // namespace forge::store
