#include "orchestrator/store/blobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/crypto/crypto.h"

namespace forge::store {
namespace {

constexpr std::size_t kIdLength = 64;
constexpr std::string_view kUnfinished = "/unfinished";

bool is_blob_id(std::string_view id) {
  return id.size() == kIdLength && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void sync_directory(const std::string& path) {
  const UniqueFd directory = checked_fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "opening " + path);
  checked(::fsync(directory.get()), "syncing " + path);
}

/// A file that vanishes unless it was moved to its final name.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::string path) : path_(std::move(path)) {
    file_ = checked_fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "making " + path_);
  }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile() {
    if (!moved_) ::unlink(path_.c_str());
  }

  void write(std::string_view data) {
    write_all(file_.get(), data, Stop());
    checked(::fsync(file_.get()), "syncing " + path_);
  }
  void move_to(const std::string& target) {
    checked(::rename(path_.c_str(), target.c_str()), "moving a blob to " + target);
    moved_ = true;
  }

 private:
  std::string path_;
  UniqueFd file_;
  bool moved_ = false;
};

/// A truncated or grown file is not trusted: put() then writes it anew.
bool is_stored(const std::string& path, std::size_t bytes) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) == bytes;
}

}  // namespace

void make_private_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) throw system_failure("making the directory " + path, errno);
}

Blobs::Blobs(std::string directory) : directory_(std::move(directory)) {
  make_private_directory(directory_);
  const std::string unfinished = directory_ + std::string(kUnfinished);
  make_private_directory(unfinished);
  for (const auto& entry : std::filesystem::directory_iterator(unfinished)) std::filesystem::remove(entry.path());
}

std::string Blobs::path_of(const std::string& id) const { return directory_ + "/" + id.substr(0, 2) + "/" + id.substr(2); }

std::string Blobs::put(std::string_view data) const {
  if (data.size() > kMaxBytes) {
    throw Error(ErrorCode::limit_exceeded,
                "a blob of " + std::to_string(data.size()) + " bytes is over the limit of " + std::to_string(kMaxBytes));
  }
  std::string id = crypto::sha256_hex(data);
  const std::string path = path_of(id);
  if (is_stored(path, data.size())) return id;
  try {
    const std::string folder = directory_ + "/" + id.substr(0, 2);
    const bool new_folder = !std::filesystem::exists(folder);
    make_private_directory(folder);
    UnfinishedFile file(directory_ + std::string(kUnfinished) + "/" + crypto::random_token(16));
    file.write(data);
    file.move_to(path);
    // Without these the name could be missing after a power cut although the row that names it is there.
    sync_directory(folder);
    if (new_folder) sync_directory(directory_);
  } catch (const Error& e) {
    // As the database says it. The code of "no space left" is limit_exceeded, which here means data that is too large.
    throw Error(ErrorCode::unavailable, e.what());
  }
  return id;
}

std::string Blobs::get(const std::string& id) const {
  // Also what keeps a path out of the id.
  if (!is_blob_id(id)) throw public_failure(ErrorCode::not_found, "no such blob");
  const std::string path = path_of(id);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT) throw public_failure(ErrorCode::not_found, "no such blob");
  const UniqueFd file = checked_fd(fd, "opening blob " + path);
  std::string data = read_all(file.get(), kMaxBytes, Stop());
  if (crypto::sha256_hex(data) != id) throw Error(ErrorCode::corrupt, "the content of blob " + path + " does not match its name");
  return data;
}

}  // namespace forge::store
