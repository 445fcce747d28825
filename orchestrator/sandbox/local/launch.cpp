#include "orchestrator/sandbox/local/launch.h"

#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "orchestrator/base/error.h"
#include "orchestrator/sandbox/local/remedy.h"
#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local {
namespace {

constexpr std::size_t kMaxAnswerBytes = 64 << 10;
constexpr auto kSilentTime = std::chrono::seconds(2);

Error launch_failure(const Packet& packet) {
  const std::string step = packet.fields.empty() ? "setting up" : packet.fields[0].substr(0, 400);
  const auto number = packet.fields.size() < 2 ? std::nullopt : number_in(packet.fields[1]);
  const int error = number ? static_cast<int>(*number) : 0;
  const bool about_tree = step == kMappingTree;
  const std::string reason = error == 0 ? "" : ": " + std::generic_category().message(error);
  Error failure =
      public_failure(ErrorCode::sandbox_unavailable, "the sandbox could not be made: " + step + reason + remedy_for_step(step, error));
  return about_tree ? std::move(failure).in_field("tree") : failure;
}

Child start(const std::string& path, int socket) {
  SpawnOptions options;
  options.argv = {path};
  options.fds = {{socket, 3}};
  try {
    return Child::spawn(options);
  } catch (Error& e) {
    if (e.code() == ErrorCode::cancelled) throw;
    throw public_failure(ErrorCode::sandbox_unavailable, std::string("the sandbox launcher did not start: ") + e.what());
  }
}

// The spec waits in the socket when the launcher starts: one round trip less.
void send_spec(int socket, const Plan& plan, const Cgroup* group, int filters) {
  std::vector<int> fds;
  if (group != nullptr) fds = group->join_files();
  const std::size_t files = fds.size();
  const bool born_inside = group != nullptr && group->birth_directory() >= 0;
  if (born_inside) fds.push_back(group->birth_directory());
  fds.push_back(filters);
  const std::string spec = R"({"attached":{"group_files":)" + std::to_string(files) + R"(,"group_v2":)" + (born_inside ? "true" : "false") +
                           R"(,"filters":true},"plan":)" + to_json(plan) + "}";
  if (spec.size() > kMaxSpecBytes) throw public_failure(ErrorCode::sandbox_config, "the sandbox's plan is too long");
  send_message(socket, spec, fds);
}

/// How a launcher ended that said nothing: something outside killed it, or it has a fault.
std::string silent_end(Child& launcher) {
  try {
    const Exit exit = launcher.wait(Stop::after(kSilentTime));
    if (exit.signal) return "by signal " + std::to_string(*exit.signal);
    return "with exit code " + std::to_string(exit.code.value_or(0));
  } catch (const Error& e) {
    return std::string("not at all: ") + e.what();
  }
}

Message next_answer(int socket, Child& launcher, const Stop& stop) {
  std::optional<Message> answer = receive_message(socket, kMaxAnswerBytes, stop);
  if (answer) return std::move(*answer);
  throw public_failure(ErrorCode::sandbox_unavailable, "the sandbox launcher ended while it made the sandbox, " + silent_end(launcher));
}

}  // namespace

Launched launch(const std::string& path, const Plan& plan, const Cgroup* group, int filters, const Stop& stop) {
  SocketPair control = make_socketpair(SOCK_SEQPACKET);
  send_spec(control.ours.get(), plan, group, filters);
  Child launcher = start(path, control.theirs.get());
  control.theirs.reset();
  UniqueFd init;
  while (true) {
    Message answer = next_answer(control.ours.get(), launcher, stop);
    const std::optional<Packet> packet = unpack(answer.data);
    if (!packet || packet->type == message::kFailed) throw launch_failure(packet.value_or(Packet{}));
    if (packet->type == message::kInit && !answer.fds.empty()) init = std::move(answer.fds.front());
    if (packet->type != message::kReady) continue;
    const std::size_t expected = plan.ports.size() + (plan.tree.empty() ? 0 : 1);
    if (answer.fds.size() != expected || !init)
      throw public_failure(ErrorCode::sandbox_unavailable, "the sandbox launcher answered out of turn");
    Launched launched{std::move(launcher), Supervisor(std::move(control.ours), std::move(init)), {}, {}};
    if (!plan.tree.empty()) {
      launched.upper = std::move(answer.fds.front());
      answer.fds.erase(answer.fds.begin());
    }
    launched.listeners = std::move(answer.fds);
    return launched;
  }
}

}  // namespace forge::sandbox::local
