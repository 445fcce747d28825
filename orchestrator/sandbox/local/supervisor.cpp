#include "orchestrator/sandbox/local/supervisor.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "orchestrator/base/error.h"
#include "orchestrator/sandbox/local/seccomp.h"

namespace forge::sandbox::local {

void Supervisor::request(char type, const std::vector<std::string>& fields, std::span<const int> fds) const {
  const std::string data = pack(type, fields);
  if (data.size() > kMaxLargePacketBytes)
    throw public_failure(ErrorCode::invalid_argument, "the command with its environment is longer than 8 MiB");
  try {
    if (data.size() <= kMaxPacketBytes) return send_message(control_.get(), data, fds);
    const UniqueFd file = sealed_file("request", data);
    std::vector<int> with_file{file.get()};
    with_file.insert(with_file.end(), fds.begin(), fds.end());
    send_message(control_.get(), pack(message::kLarge), with_file);
  } catch (Error& e) {
    throw Error(ErrorCode::unavailable, std::string("the sandbox does not answer: ") + e.what());
  }
}

bool Supervisor::kill_all(const Stop& stop) const {
  try {
    request(message::kKillAll, {}, {});
    const std::optional<Message> answer = receive_message(control_.get(), 64, stop);
    return answer && !answer->data.empty() && answer->data.front() == message::kKillAll;
  } catch (const Error&) {
    return false;  // the caller ends the sandbox instead
  }
}

bool Supervisor::gone() const {
  pollfd ended{init_.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

void Supervisor::end(const Stop& stop) const {
  ::syscall(SYS_pidfd_send_signal, init_.get(), SIGKILL, nullptr, 0);
  wait_ready(init_.get(), POLLIN, stop);
}

}  // namespace forge::sandbox::local
