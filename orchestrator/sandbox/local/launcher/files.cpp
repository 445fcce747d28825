#include "orchestrator/sandbox/local/launcher/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/launcher/step.h"

namespace forge::sandbox::local::launcher {
namespace {

/// O_NONBLOCK: a FIFO or a device must not hold us; then only a regular file is good enough.
UniqueFd open_regular(const std::string& path, int flags) {
  UniqueFd file(static_cast<int>(must(::open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644), "opening the file")));
  struct stat status {};
  must(::fstat(file.get(), &status), "looking at the file");
  if (S_ISDIR(status.st_mode)) throw StepFailed("opening the file", EISDIR);
  if (!S_ISREG(status.st_mode)) throw StepFailed("opening the file: it is not a regular file", EINVAL);
  return file;
}

void make_parents(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string parent = path.substr(0, at);
    // A parent that exists answers EEXIST, or EROFS on the read-only root; what is really wrong shows at the open.
    if (::mkdir(parent.c_str(), 0755) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
      throw StepFailed("making the parent directories", errno);
  }
}

const std::string& path_of(const Packet& request) {
  if (request.fields.size() < 2 || number_in(request.fields[1]).value_or(-1) < 0) throw StepFailed("reading a request", EINVAL);
  return request.fields[0];
}

}  // namespace

void send_file(const Packet& request, int out) {
  const std::string& path = path_of(request);
  const std::int64_t most = *number_in(request.fields[1]);
  const UniqueFd file = open_regular(path, O_RDONLY);
  struct stat status {};
  must(::fstat(file.get(), &status), "looking at the file");
  if (status.st_size > most) throw StepFailed("reading the file", EFBIG);
  std::array<char, 64 << 10> piece{};
  std::int64_t sent = 0;
  while (true) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    must(got, "reading the file");
    if (got == 0) return;
    sent += got;
    if (sent > most) throw StepFailed("reading the file", EFBIG);  // it grows, or is one of /proc, which have no size
    write_all(out, {piece.data(), static_cast<std::size_t>(got)}, Stop());
  }
}

void store_file(const Packet& request, int in) {
  const std::string& path = path_of(request);
  const bool only_new = request.fields.size() > 2 && !request.fields[2].empty();
  const bool sized = !only_new;  // a new file is filled until its sender ends; another must come whole
  // In place and not by a rename: mode, owner and hard links of an existing file stay as they are.
  make_parents(path);
  const UniqueFd file = open_regular(path, O_WRONLY | O_CREAT | (only_new ? O_EXCL : O_TRUNC));
  std::int64_t stored = 0;
  while (true) {
    const std::string piece = read_some(in, 64 << 10, Stop());
    if (piece.empty()) break;
    for (std::size_t at = 0; at < piece.size();) {
      const ssize_t put = ::write(file.get(), piece.data() + at, piece.size() - at);
      must(put, "writing the file");
      at += static_cast<std::size_t>(put);
    }
    stored += static_cast<std::int64_t>(piece.size());
  }
  if (sized && stored != *number_in(request.fields[1])) throw StepFailed("receiving the content of the file", EIO);
}

}  // namespace forge::sandbox::local::launcher
