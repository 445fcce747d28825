#include "orchestrator/base/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "orchestrator/base/error.h"

namespace forge {
namespace {

constexpr std::size_t kMostDescriptors = 16;

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

/// write() for files and pipes, send() without SIGPIPE for sockets.
ssize_t put(int fd, std::string_view data) {
  const ssize_t sent = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  return ::write(fd, data.data(), data.size());
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
    if (errno == ECONNRESET) return {};
    if (errno != EINTR && !would_block(errno)) throw system_failure("reading", errno);
  }
}

std::string read_all(int fd, std::size_t max_bytes, const Stop& stop) {
  std::string all;
  while (true) {
    const std::string piece = read_some(fd, 64 << 10, stop);
    if (piece.empty()) return all;
    if (all.size() + piece.size() > max_bytes) throw Error(ErrorCode::limit_exceeded, "more than " + std::to_string(max_bytes) + " bytes to read");
    all += piece;
  }
}

void write_all(int fd, std::string_view data, const Stop& stop) {
  while (!data.empty()) {
    wait_ready(fd, POLLOUT, stop);
    // Bounded pieces: a blocking pipe that is ready for some bytes may block on many.
    const ssize_t sent = put(fd, data.substr(0, std::min<std::size_t>(data.size(), 4096)));
    if (sent >= 0) {
      data.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EINTR && !would_block(errno)) {
      throw system_failure("writing", errno);
    }
  }
}

void send_message(int socket, std::string_view data, std::span<const int> fds) {
  if (fds.size() > kMostDescriptors) throw Error(ErrorCode::internal, "too many descriptors in one message");
  iovec part{const_cast<char*>(data.data()), data.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
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
    for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr; rights = CMSG_NXTHDR(&header, rights)) {
      if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(rights) + i * sizeof(int), sizeof(int));
        message.fds.emplace_back(fd);
      }
    }
    if ((header.msg_flags & MSG_TRUNC) != 0) throw Error(ErrorCode::limit_exceeded, "a message is longer than " + std::to_string(max_bytes) + " bytes");
    if (got == 0 && message.fds.empty()) return {};
    message.data.resize(static_cast<std::size_t>(got));
    return message;
  }
}

}  // namespace forge
