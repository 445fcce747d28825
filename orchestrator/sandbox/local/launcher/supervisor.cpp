#include "orchestrator/sandbox/local/launcher/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "orchestrator/sandbox/local/launcher/keeper.h"
#include "orchestrator/sandbox/local/launcher/step.h"
#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local::launcher {
namespace {

/// Keepers, and orphans of commands whose keeper is gone.
void reap_all() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

/// kill(-1) reaches every process of the pid namespace but us at one moment, so that not even a process that forks and exits without
/// end slips through; it is over when we have no child left.
void kill_all() {
  ::kill(-1, SIGKILL);
  while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
}

/// The packet itself, or, where it was too large for a message, the one in its memory file.
std::optional<Packet> whole_packet(Message& message) {
  std::optional<Packet> packet = unpack(message.data);
  if (!packet || packet->type != message::kLarge) return packet;
  if (message.fds.empty()) return {};
  std::string data(kMaxLargePacketBytes, '\0');
  const ssize_t got = ::pread(message.fds.front().get(), data.data(), data.size(), 0);
  message.fds.erase(message.fds.begin());
  if (got < 0) return {};
  data.resize(static_cast<std::size_t>(got));
  return unpack(data);
}

void serve(int control, Message message) {
  const std::optional<Packet> packet = whole_packet(message);
  if (!packet) return;
  if (packet->type == message::kKillAll) {
    kill_all();
    send_message(control, pack(message::kKillAll));
    return;
  }
  // The job is not trusted with anything of ours, but a full process table is an answer and not a reason to die.
  const pid_t keeper = ::fork();
  if (keeper == 0) keep(*packet, std::move(message.fds), control);
  if (keeper < 0 && !message.fds.empty()) {
    const std::string answer = pack(message::kNotStarted, {"starting a command", std::to_string(errno)});
    send_message(message.fds.front().get(), answer);
  }
}

[[noreturn]] void loop(int control) {
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  must(::sigprocmask(SIG_BLOCK, &child_ended, nullptr), "blocking SIGCHLD");
  const UniqueFd ended(static_cast<int>(must(::signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK), "making a signalfd")));
  while (true) {
    std::array<pollfd, 2> polled{pollfd{control, POLLIN, 0}, pollfd{ended.get(), POLLIN, 0}};
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[1].revents != 0) {
      signalfd_siginfo ignored{};
      while (::read(ended.get(), &ignored, sizeof ignored) > 0) {
      }
      reap_all();
    }
    if (polled[0].revents == 0) continue;
    std::optional<Message> message = receive_message(control, kMaxPacketBytes + 1, Stop());
    // Forge let go or died: our end is the end of every process in the namespace.
    if (!message) ::_exit(0);
    serve(control, std::move(*message));
  }
}

}  // namespace

void supervise(int control) {
  try {
    loop(control);
  } catch (const std::exception&) {
    ::_exit(1);  // Forge sees its end close, and the kernel ends everything in the namespace
  }
}

}  // namespace forge::sandbox::local::launcher
