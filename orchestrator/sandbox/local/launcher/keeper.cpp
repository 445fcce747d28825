#include "orchestrator/sandbox/local/launcher/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "orchestrator/sandbox/local/launcher/files.h"
#include "orchestrator/sandbox/local/launcher/program.h"
#include "orchestrator/sandbox/local/launcher/step.h"

namespace forge::sandbox::local::launcher {
namespace {

// At most a millisecond each. A tree of processes dies level by level; who is not dead by then outruns us, and Forge ends more.
constexpr int kKillRounds = 2000;

struct Streams {
  UniqueFd status, in, out, err, out_reader, err_reader;
};

UniqueFd take(std::vector<UniqueFd>& fds, std::size_t index) { return index < fds.size() ? std::move(fds[index]) : UniqueFd(); }

class Keeper {
 public:
  explicit Keeper(Streams streams) : streams_(std::move(streams)) {
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    ended_ = UniqueFd(static_cast<int>(must(::signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK), "making a signalfd")));
  }

  [[noreturn]] void run(const Packet& request) {
    command_ = start_program(request, streams_.in.get(), streams_.out.get(), streams_.err.get());
    // Ours would keep the pipes open after the last writer.
    streams_.in.reset();
    streams_.out.reset();
    streams_.err.reset();
    while (true) {
      std::array<pollfd, 2> polled{pollfd{ended_.get(), POLLIN, 0}, pollfd{streams_.status.get(), POLLIN, 0}};
      if (::poll(polled.data(), polled.size(), -1) < 0) continue;
      if (polled[0].revents != 0) reap();
      if (polled[1].revents != 0) obey();
    }
  }

 private:
  /// Collects every child that ended; tells Forge of the command itself.
  void reap() {
    signalfd_siginfo ignored{};
    while (::read(ended_.get(), &ignored, sizeof ignored) > 0) {
    }
    while (collect(WNOHANG)) {
    }
  }

  bool collect(int flags) {
    int status = 0;
    rusage used{};
    const pid_t pid = ::wait4(-1, &status, flags, &used);
    if (pid < 0) childless_ = errno == ECHILD;
    if (pid <= 0) return false;
    if (pid == command_) {
      command_ended_ = true;
      const auto micros = [](const timeval& time) { return std::to_string(time.tv_sec * 1'000'000LL + time.tv_usec); };
      tell(message::kEnded, {std::to_string(status), micros(used.ru_utime), micros(used.ru_stime), std::to_string(used.ru_maxrss)});
    }
    return true;
  }

  void tell(char type, const std::vector<std::string>& fields = {}) {
    try {
      send_message(streams_.status.get(), pack(type, fields));
    } catch (const Error&) {
      let_go();  // Forge no longer listens
    }
  }

  void obey() {
    const std::optional<Message> message = receive_message(streams_.status.get(), 64, Stop());
    if (!message) let_go();
    const std::optional<Packet> packet = unpack(message->data);
    if (!packet) return;
    // The group may outlive its leader; a number of ours is not given away while the leader is unreaped or the group lives.
    if (packet->type == message::kTerminate) ::kill(-command_, SIGTERM);
    if (packet->type != message::kKill) return;
    if (kill_descendants()) tell(message::kGone);
  }

  /// Kills children until none is left: what they leave behind becomes our child in turn. False when they outran us.
  bool kill_descendants() {
    ::kill(-command_, SIGKILL);
    for (int round = 0; round < kKillRounds; ++round) {
      kill_children();
      while (collect(WNOHANG)) {
      }
      if (childless_) return true;
      pollfd ended{ended_.get(), POLLIN, 0};
      ::poll(&ended, 1, 1);
    }
    return false;
  }

  /// From the kernel's own list of our children, which no process can hide from: /proc as a whole shows only what one may trace.
  static void kill_children() {
    const std::string path = "/proc/self/task/" + std::to_string(::syscall(SYS_gettid)) + "/children";
    const UniqueFd list(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!list) return;
    std::array<char, 64 << 10> text{};
    const ssize_t got = ::read(list.get(), text.data(), text.size() - 1);
    char* at = text.data();
    for (char* end = text.data() + (got > 0 ? got : 0); at < end;) {
      char* after = at;
      const long pid = std::strtol(at, &after, 10);
      if (after == at) break;
      if (pid > 1) ::kill(static_cast<pid_t>(pid), SIGKILL);
      at = after;
    }
  }

  /// Forge closed its end. A command that had not ended is dropped; what still runs after one that had was left on purpose.
  [[noreturn]] void let_go() {
    if (!command_ended_) {
      kill_descendants();
      ::_exit(0);
    }
    std::array<UniqueFd*, 2> readers{&streams_.out_reader, &streams_.err_reader};
    while (true) {
      reap();
      if (childless_) ::_exit(0);
      std::array<pollfd, 3> polled{pollfd{ended_.get(), POLLIN, 0}, pollfd{readers[0]->get(), POLLIN, 0},
                                   pollfd{readers[1]->get(), POLLIN, 0}};
      if (::poll(polled.data(), polled.size(), -1) < 0) continue;
      for (std::size_t i = 0; i < readers.size(); ++i) {
        std::array<char, 64 << 10> dropped{};
        if (polled.at(i + 1).revents != 0 && ::read(readers.at(i)->get(), dropped.data(), dropped.size()) <= 0) readers.at(i)->reset();
      }
    }
  }

  Streams streams_;
  UniqueFd ended_;
  pid_t command_ = -1;
  bool command_ended_ = false;
  bool childless_ = false;
};

/// The descriptors of a kRun request, by its flags.
Streams sort_out(const Packet& request, std::vector<UniqueFd>& fds) {
  const std::string flags = request.fields.empty() ? "" : request.fields[0];
  const std::size_t expected = 3 + (flags.find('i') != std::string::npos ? 1U : 0U) + (flags.find('e') != std::string::npos ? 2U : 0U);
  if (fds.size() != expected) throw StepFailed("receiving descriptors", EBADMSG);
  Streams streams;
  streams.status = take(fds, 0);
  streams.out = take(fds, 1);
  streams.out_reader = take(fds, 2);
  std::size_t next = 3;
  if (flags.find('i') != std::string::npos) streams.in = take(fds, next++);
  if (flags.find('e') != std::string::npos) streams.err = take(fds, next++);
  if (flags.find('e') != std::string::npos) streams.err_reader = take(fds, next++);
  return streams;
}

[[noreturn]] void run_file_request(const Packet& request, std::vector<UniqueFd>& fds) {
  const UniqueFd status = take(fds, 0);
  const UniqueFd data = take(fds, 1);
  if (request.type == message::kRead) send_file(request, data.get());
  if (request.type == message::kWrite) store_file(request, data.get());
  send_message(status.get(), pack(message::kEnded));
  ::_exit(0);
}

}  // namespace

void keep(const Packet& request, std::vector<UniqueFd> fds, int control) {
  ::close(control);
  // Its own copy: the one below is gone by the time a failure is reported.
  const UniqueFd status(fds.empty() ? -1 : ::fcntl(fds.front().get(), F_DUPFD_CLOEXEC, 0));
  try {
    if (request.type != message::kRun) run_file_request(request, fds);
    must(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "becoming the reaper of a command");
    Keeper keeper(sort_out(request, fds));
    keeper.run(request);
  } catch (const StepFailed& e) {
    send_message(status.get(), pack(message::kNotStarted, {e.what(), std::to_string(e.error())}));
  } catch (const std::exception&) {
    ::_exit(1);  // Forge sees the status socket close
  }
  ::_exit(1);
}

}  // namespace forge::sandbox::local::launcher
