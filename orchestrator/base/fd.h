#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/base/stop.h"

namespace forge {

/// Owns one descriptor; closes it once.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

/// Takes the result of open(), socket() ...; throws system_failure(what) when it is negative.
UniqueFd checked_fd(int fd, std::string_view what);
/// Throws system_failure(what) when `result` is negative; returns it otherwise.
int checked(int result, std::string_view what);

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
/// Close-on-exec at both ends.
Pipe make_pipe();

struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};
/// AF_UNIX; `type` is SOCK_STREAM or SOCK_SEQPACKET. Close-on-exec at both ends.
SocketPair make_socketpair(int type);

void set_nonblocking(int fd, bool on);

/// Waits until `fd` has one of `events` (POLLIN, POLLOUT) or was hung up. Throws cancelled or timed_out when `stop` ends the wait.
void wait_ready(int fd, short events, const Stop& stop);

/// Reads what is there, at most `most` bytes; "" at the end of the stream. Works on blocking and non-blocking descriptors.
std::string read_some(int fd, std::size_t most, const Stop& stop);
/// Reads to the end; throws limit_exceeded past `max_bytes`.
std::string read_all(int fd, std::size_t max_bytes, const Stop& stop);
/// One write() with its result and errno, except that a peer that closed gives EPIPE and never SIGPIPE. Does not block on sockets.
ssize_t write_without_signal(int fd, std::string_view data);
/// Writes all of `data`. A peer that closed gives unavailable, never SIGPIPE and never a partial success.
void write_all(int fd, std::string_view data, const Stop& stop);

/// One datagram or stream piece with descriptors beside it (SCM_RIGHTS), at most 16 of them.
struct Message {
  std::string data;
  std::vector<UniqueFd> fds;
};
void send_message(int socket, std::string_view data, std::span<const int> fds = {});
/// Waits for one message; nothing when the peer closed. `max_bytes` caps data; a longer datagram throws limit_exceeded.
std::optional<Message> receive_message(int socket, std::size_t max_bytes, const Stop& stop);

}  // namespace forge
