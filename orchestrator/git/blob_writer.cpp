#include "orchestrator/git/blob_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "orchestrator/base/fd.h"

namespace forge::git {
namespace {

constexpr std::size_t kPieceBytes = 64u << 10;
// Beyond it one call for the whole file system is cheaper than one per file.
constexpr std::size_t kSyncOneByOne = 256;

/// Nothing when the file is not there: the object was in a pack before, which came with a transfer.
void sync_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) checked(::fdatasync(fd.get()), "waiting for the disk");
}

}  // namespace

std::optional<git_oid> BlobWriter::write(std::int64_t size, const CommitBuilder::Read& read) {
  const auto stream = receive<OdbStream>("opening a blob", [&](git_odb_stream** out) {
    return git_odb_open_wstream(out, odb_.get(), static_cast<git_object_size_t>(size), GIT_OBJECT_BLOB);
  });
  std::array<char, kPieceBytes> piece;
  for (std::int64_t left = size; left > 0;) {
    const std::size_t got = read(piece.data(), std::min<std::size_t>(piece.size(), static_cast<std::size_t>(left)));
    if (got == 0) return {};
    check("writing a blob", git_odb_stream_write(stream.get(), piece.data(), got));
    left -= static_cast<std::int64_t>(got);
  }
  git_oid id{};
  check("finishing a blob", git_odb_stream_finalize_write(&id, stream.get()));
  return id;
}

git_oid BlobWriter::write(const std::string& text) {
  git_oid id{};
  check("writing a blob", git_odb_write(&id, odb_.get(), text.data(), text.size(), GIT_OBJECT_BLOB));
  return id;
}

void sync_objects(const std::string& git_dir, const std::vector<git_oid>& objects) {
  const std::string directory = git_dir + "/objects";
  if (objects.size() > kSyncOneByOne) {
    const UniqueFd fd = checked_fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "opening the objects");
    checked(::syncfs(fd.get()), "waiting for the disk");
    return;
  }
  for (const git_oid& id : objects) {
    const std::string hex = hex_of(id);
    sync_file(directory + "/" + hex.substr(0, 2) + "/" + hex.substr(2));
  }
}

void sync_reference(const std::string& git_dir, const std::string& name) { sync_file(git_dir + "/" + name); }

}  // namespace forge::git
