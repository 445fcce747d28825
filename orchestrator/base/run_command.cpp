#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "orchestrator/base/error.h"
#include "orchestrator/base/process.h"

namespace forge {
namespace {

// A well-behaved command removes its lock files within this; git and npm do.
constexpr std::chrono::milliseconds kCommandGrace = std::chrono::seconds(2);
constexpr std::size_t kPieceBytes = 64 << 10;

bool try_again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

/// Our ends of the pipes of one command.
class Pump {
 public:
  Pump(std::string_view input, std::size_t max_output_bytes) : input_(input), max_output_bytes_(max_output_bytes) {}

  /// Adds the child's ends to `options`; they live until `started`.
  void attach(SpawnOptions& options) {
    for (auto& [pipe, number] : {std::pair<Pipe*, int>{&out_, 1}, {&err_, 2}}) {
      *pipe = make_pipe();
      set_nonblocking(pipe->read.get(), true);
      options.fds.emplace_back(pipe->write.get(), number);
    }
    if (input_.empty()) return;
    in_ = make_pipe();
    set_nonblocking(in_.write.get(), true);
    options.fds.emplace_back(in_.read.get(), 0);
  }
  /// Closes our copies of the child's ends: only then do the pipes end with it.
  void started() {
    out_.write.reset();
    err_.write.reset();
    in_.read.reset();
  }

  /// Moves bytes until the process behind `pid_fd` has ended.
  void run(int pid_fd, const Stop& stop) {
    const StopWatch watch(stop);
    bool ended = false;
    while (!ended) {
      stop.check();
      std::array<pollfd, 5> polled{pollfd{pid_fd, POLLIN, 0},
                                   {out_.read.get(), POLLIN, 0},
                                   {err_.read.get(), POLLIN, 0},
                                   {in_.write.get(), POLLOUT, 0},
                                   {watch.fd(), POLLIN, 0}};
      if (::poll(polled.data(), polled.size(), stop.poll_timeout_ms()) < 0) {
        if (errno == EINTR) continue;
        throw system_failure("waiting for a command", errno);
      }
      // Read once more after the end was seen: drain() then takes what is left.
      ended = polled[0].revents != 0;
      if (polled[1].revents != 0) take(out_.read, out);
      if (polled[2].revents != 0) take(err_.read, err);
      if (polled[3].revents != 0) give();
    }
  }
  /// What is still in the pipes. Does not wait for their end: a process that left the group may hold them open for ever.
  void drain() {
    while (take(out_.read, out)) {
    }
    while (take(err_.read, err)) {
    }
  }

  std::string out;
  std::string err;

 private:
  /// False when there is nothing to read now, or the end was reached (then `fd` is closed).
  bool take(UniqueFd& fd, std::string& into) const {
    if (!fd) return false;
    std::array<char, kPieceBytes> piece;
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0 && try_again(errno)) return false;
    if (got <= 0) {
      fd.reset();
      return false;
    }
    if (into.size() + static_cast<std::size_t>(got) > max_output_bytes_)
      throw Error(ErrorCode::limit_exceeded, "a command wrote more than " + std::to_string(max_output_bytes_) + " bytes");
    into.append(piece.data(), static_cast<std::size_t>(got));
    return true;
  }
  void give() {
    const ssize_t sent = write_without_signal(in_.write.get(), input_.substr(0, kPieceBytes));
    if (sent < 0 && try_again(errno)) return;
    // A command that does not read its input to the end is its own business.
    if (sent > 0) input_.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 || input_.empty()) in_.write.reset();
  }

  std::string_view input_;
  std::size_t max_output_bytes_;
  Pipe out_;
  Pipe err_;
  Pipe in_;
};

}  // namespace

Output run_command(SpawnOptions options, std::string_view input, std::size_t max_output_bytes, const Stop& stop) {
  Pump pump(input, max_output_bytes);
  pump.attach(options);
  Child child = Child::spawn(options);
  pump.started();
  try {
    pump.run(child.pid_fd(), stop);
  } catch (const Error&) {
    child.terminate(kCommandGrace);
    throw;
  }
  child.signal(SIGKILL);  // what it left behind in its group; its own status is fixed already
  pump.drain();
  return {.exit = child.wait(Stop()), .out = std::move(pump.out), .err = std::move(pump.err)};
}

}  // namespace forge
