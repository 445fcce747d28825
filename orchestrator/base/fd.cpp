#include "orchestrator/base/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "orchestrator/base/error.h"

namespace forge {
namespace {

constexpr std::size_t kMostDescriptors = 16;

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

/// How much may be written at once when poll() says "ready": a blocking pipe that has room for some bytes may block on more.
std::size_t piece_bytes(int fd) {
  struct stat status {};
  const bool pipe = ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
  return pipe ? PIPE_BUF : std::size_t{256} << 10;
}

/// write() of a pipe in a thread that keeps SIGPIPE from being delivered, and takes it away if this write raised it.
ssize_t write_masked(int fd, std::string_view data) {
  sigset_t pipe_signal;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  sigpending(&pending);
  const ssize_t sent = ::write(fd, data.data(), data.size());
  const int error = errno;
  if (sent < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    while (sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return sent;
}

}  // namespace

void UniqueFd::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

UniqueFd checked_fd(int fd, std::string_view what) { return UniqueFd(checked(fd, what)); }

int checked(int result, std::string_view what) {
  if (result < 0) throw system_failure(what, errno);
  return result;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  checked(::pipe2(ends.data(), O_CLOEXEC), "making a pipe");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

SocketPair make_socketpair(int type) {
  std::array<int, 2> ends{};
  checked(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()), "making a socket pair");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void set_nonblocking(int fd, bool on) {
  const int flags = checked(::fcntl(fd, F_GETFL), "reading descriptor flags");
  checked(::fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), "setting descriptor flags");
}

// A loop, because poll() also returns for the watch, for signals, and after a day.
void wait_ready(int fd, short events, const Stop& stop) {
  const StopWatch watch(stop);
  while (true) {
    stop.check();
    std::array<pollfd, 2> polled{pollfd{fd, events, 0}, pollfd{watch.fd(), POLLIN, 0}};
    const int ready = ::poll(polled.data(), polled.size(), stop.poll_timeout_ms());
    if (ready < 0 && errno != EINTR) throw system_failure("waiting for a descriptor", errno);
    if (ready > 0 && polled[0].revents != 0) return;
  }
}

std::string read_some(int fd, std::size_t most, const Stop& stop) {
  std::string data(most, '\0');
  while (true) {
    wait_ready(fd, POLLIN, stop);
    const ssize_t got = ::read(fd, data.data(), data.size());
    if (got >= 0) {
      data.resize(static_cast<std::size_t>(got));
      return data;
    }
    // A peer that died with unread data resets; for a reader that is the end like any other.
    if (errno == ECONNRESET) return {};
    // Not ready after all: another reader was first, or the checksum of a datagram was wrong.
    if (errno != EINTR && !would_block(errno)) throw system_failure("reading", errno);
  }
}

std::string read_all(int fd, std::size_t max_bytes, const Stop& stop) {
  std::string all;
  while (true) {
    const std::string piece = read_some(fd, 64 << 10, stop);
    if (piece.empty()) return all;
    if (all.size() + piece.size() > max_bytes)
      throw Error(ErrorCode::limit_exceeded, "more than " + std::to_string(max_bytes) + " bytes to read");
    all += piece;
  }
}

// send() alone knows MSG_NOSIGNAL; other descriptors than sockets take the long way.
ssize_t write_without_signal(int fd, std::string_view data) {
  const ssize_t sent = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 && errno == ENOTSOCK ? write_masked(fd, data) : sent;
}

void write_all(int fd, std::string_view data, const Stop& stop) {
  const std::size_t most = piece_bytes(fd);
  while (!data.empty()) {
    wait_ready(fd, POLLOUT, stop);
    const ssize_t sent = write_without_signal(fd, data.substr(0, most));
    if (sent >= 0) {
      data.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EINTR && !would_block(errno)) {
      throw system_failure("writing", errno);
    }
  }
}

void send_message(int socket, std::string_view data, std::span<const int> fds) {
  if (fds.size() > kMostDescriptors) throw Error(ErrorCode::internal, "too many descriptors in one message");
  // sendmsg() does not write through the pointer, it only has no const in its type.
  iovec part{const_cast<char*>(data.data()), data.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    // The kernel takes control messages only at their exact padded length.
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) throw system_failure("sending a message", errno);
  if (static_cast<std::size_t>(sent) != data.size()) throw Error(ErrorCode::unavailable, "a message was sent in part");
}

std::optional<Message> receive_message(int socket, std::size_t max_bytes, const Stop& stop) {
  Message message;
  message.data.resize(max_bytes);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)> control{};
  while (true) {
    wait_ready(socket, POLLIN, stop);
    iovec part{message.data.data(), message.data.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EINTR || would_block(errno))) continue;
    if (got < 0 && errno == ECONNRESET) return {};
    if (got < 0) throw system_failure("receiving a message", errno);
    // Owned before anything is checked: descriptors of a refused message are closed, not leaked.
    for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr; rights = CMSG_NXTHDR(&header, rights)) {
      if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(rights) + i * sizeof(int), sizeof(int));
        message.fds.emplace_back(fd);
      }
    }
    if ((header.msg_flags & MSG_CTRUNC) != 0) throw Error(ErrorCode::limit_exceeded, "a message carries too many descriptors");
    if ((header.msg_flags & MSG_TRUNC) != 0)
      throw Error(ErrorCode::limit_exceeded, "a message is longer than " + std::to_string(max_bytes) + " bytes");
    if (got == 0 && message.fds.empty()) return {};
    message.data.resize(static_cast<std::size_t>(got));
    return message;
  }
}

}  // namespace forge
