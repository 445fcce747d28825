#include "orchestrator/sandbox/local/etc.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/stop.h"

namespace forge::sandbox::local {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxFileBytes = 2 << 20;
constexpr int kMaxEntries = 2'000;

/// What programs need to run, and nothing that says who uses the machine: no hostname, no machine-id, no ssh, no gitconfig.
constexpr std::array<const char*, 17> kCopied{"ca-certificates.conf", "debian_version", "inputrc",     "ld.so.cache", "ld.so.conf",
                                              "ld.so.conf.d",         "localtime",      "lsb-release", "magic",       "mime.types",
                                              "os-release",           "perl",           "protocols",   "services",    "shells",
                                              "ssl/openssl.cnf",      "terminfo"};
/// Large directories: bound as they are. All of them are public on every host.
constexpr std::array<const char*, 3> kBound{"alternatives", "fonts", "ssl/certs"};
/// Families with a version in their name.
constexpr const char* kCopiedPrefix = "python3";
constexpr const char* kBoundPrefix = "java-";

constexpr std::array<std::pair<const char*, const char*>, 9> kWritten{{
    {"passwd",
     "root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n"
     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    {"group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"},
    {"hosts", "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n"},
    {"hostname", "sandbox\n"},
    {"host.conf", "multi on\n"},
    {"nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"},
    {"resolv.conf", "# There is no name service in a sandbox: the proxy resolves names.\n"},
    {"timezone", "Etc/UTC\n"},
    {"profile", "umask 022\n"},
}};

void write_whole(const fs::path& path, const std::string& text) {
  const UniqueFd file = checked_fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444), "making " + path.string());
  checked(::fchmod(file.get(), 0444), "making " + path.string());  // whatever our umask is
  write_all(file.get(), text, Stop());
}

/// Readable to everybody on the host, as it must be inside: a private file (ssl/private, shadow) is never taken.
void copy_public_file(const fs::path& from, const fs::path& to) {
  const UniqueFd file(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) < 0 || !S_ISREG(status.st_mode)) return;
  if ((status.st_mode & S_IROTH) == 0 || static_cast<std::uintmax_t>(status.st_size) > kMaxFileBytes) return;
  write_whole(to, read_all(file.get(), kMaxFileBytes, Stop()));
}

void make_directory(const fs::path& path) {
  fs::create_directories(path);
  fs::permissions(path,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec);
}

void copy_any(const fs::path& from, const fs::path& to, int& left) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(from, error);
  if (error || !fs::exists(status) || left-- <= 0) return;
  if (fs::is_symlink(status)) return fs::copy_symlink(from, to, error);
  if (fs::is_regular_file(status)) return copy_public_file(from, to);
  if (!fs::is_directory(status)) return;
  make_directory(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) copy_any(entry.path(), to / entry.path().filename(), left);
}

bool is_real_directory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

/// Names below the host's /etc that are bound.
std::vector<std::string> bound_in(const fs::path& host) {
  std::vector<std::string> bound;
  for (const char* name : kBound) {
    if (is_real_directory(host / name)) bound.emplace_back(name);
  }
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(host, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kBoundPrefix) && is_real_directory(entry.path())) bound.push_back(name);
  }
  std::sort(bound.begin(), bound.end());
  return bound;
}

void fill(const fs::path& host, const fs::path& to) {
  int left = kMaxEntries;
  make_directory(to);
  make_directory(to / "ssl");
  for (const auto& [name, text] : kWritten) write_whole(to / name, text);
  for (const char* name : kCopied) copy_any(host / name, to / name, left);
  for (const std::string& name : bound_in(host)) make_directory(to / name);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(host, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kCopiedPrefix)) copy_any(entry.path(), to / name, left);
  }
}

}  // namespace

EtcDirectory::EtcDirectory(std::string base, std::string host_etc) : base_(std::move(base)), host_etc_(std::move(host_etc)) {}

std::string EtcDirectory::signature() const {
  std::string text;
  for (const char* name : {"ld.so.cache", "localtime", "."}) {
    struct stat status {};
    if (::lstat((host_etc_ + "/" + name).c_str(), &status) == 0)
      text +=
          std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + " " + std::to_string(status.st_ino) + "\n";
  }
  return text;
}

EtcDirectory::Current EtcDirectory::current() {
  const std::string now = signature();
  std::string path;
  {
    auto state = state_.lock();
    if (!state->path.empty() && state->signature == now) return {state->path, state->bound};
    path = base_ + "/etc-" + std::to_string(++state->made);
  }
  // Two threads that find the copy old make one each, which is rare and harms nothing.
  try {
    fill(host_etc_, path);
  } catch (const fs::filesystem_error& e) {
    throw system_failure("copying /etc for sandboxes", e.code().value());
  }
  auto state = state_.lock();
  state->path = path;
  state->signature = now;
  state->bound = bound_in(host_etc_);
  return {state->path, state->bound};
}

}  // namespace forge::sandbox::local
