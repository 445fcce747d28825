#include "orchestrator/sandbox/local/sandbox.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "orchestrator/base/error.h"
#include "orchestrator/sandbox/local/changes.h"
#include "orchestrator/sandbox/local/command.h"
#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local {
namespace {

constexpr auto kReleaseTime = std::chrono::seconds(30);
constexpr auto kLauncherTime = std::chrono::seconds(5);
constexpr int kDyingMs = 2000;

std::string absolute(const std::string& path) { return path.starts_with('/') ? path : std::string(kWorkspace) + "/" + path; }

class LocalSandbox final : public Sandbox {
 public:
  LocalSandbox(Parts parts, Launched launched, Log& log) : parts_(std::move(parts)), launched_(std::move(launched)), log_(log) {
    if (group() != nullptr) out_of_memory_before_ = group()->out_of_memory_kills();
  }
  ~LocalSandbox() override { release(); }

  const std::string& id() const override { return parts_.id; }
  const std::vector<std::string>& enforced() const override { return parts_.enforced; }
  const std::vector<std::string>& unenforced() const override { return parts_.unenforced; }

  CommandResult run(const CommandSpec& command, const Stop& stop) override;
  std::string read_file(const std::string& path, std::size_t max_bytes, const Stop& stop) override;
  void write_file(const std::string& path, std::string_view content, const Stop& stop) override;
  UniqueFd take_listener(int port) override;
  void halt(const Stop& stop) override;
  void changes(const ChangeLimits& limits, ChangeSink& sink, const Stop& stop) override;
  void release() noexcept override;

 private:
  Cgroup* group() const { return parts_.holding->group(); }
  void need_alive();
  void ask(char type, const std::vector<std::string>& fields, std::span<const int> fds);
  template <typename Body>
  auto telling_why(Body body);
  Ended why_gone();
  bool out_of_memory();
  void refine(CommandResult& result);

  Parts parts_;
  Launched launched_;
  Log& log_;
  std::int64_t out_of_memory_before_ = 0;
  int outputs_ = 0;
  bool halted_ = false;
  bool released_ = false;
  std::optional<Ended> gone_;
};

/// True once for each time that the kernel killed something here for memory.
bool LocalSandbox::out_of_memory() {
  if (group() == nullptr) return false;
  const std::int64_t now = group()->out_of_memory_kills();
  return std::exchange(out_of_memory_before_, now) < now;
}

/// Why pid 1 is gone; asked after it is.
Ended LocalSandbox::why_gone() {
  if (gone_) return *gone_;
  gone_ = Ended::driver_lost;
  if (out_of_memory()) return *(gone_ = Ended::out_of_memory);
  if (halted_) return *(gone_ = Ended::killed);
  try {
    const Exit exit = launched_.launcher.wait(Stop::after(kLauncherTime));
    if (exit.code == kExitLifetime) gone_ = Ended::lifetime;
  } catch (const Error& e) {
    log_.warn("a sandbox ended before its launcher", {{"sandbox", parts_.id}, {"why", e.what()}});
  }
  return *gone_;
}

void LocalSandbox::need_alive() {
  if (!released_ && !launched_.supervisor.gone()) return;
  std::string why = "it was released";
  if (!released_) {
    const Ended ended = why_gone();
    why = std::string(name_of(ended));
    if (ended == Ended::lifetime) why = "its lifetime of " + std::to_string(parts_.plan.lifetime_ms / 1000) + " s is over";
    if (ended == Ended::out_of_memory) why = "it ran out of memory";
    if (ended == Ended::killed) why = "it was halted";
    if (ended == Ended::driver_lost) why = "its first process was killed from outside";
  }
  throw public_failure(ErrorCode::unavailable, "the sandbox is gone: " + why);
}

/// Pid 1 may be dying while we speak to it: then the reason is why it does, and not the broken socket.
template <typename Body>
auto LocalSandbox::telling_why(Body body) {
  try {
    return body();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unavailable) throw;
    pollfd ended{launched_.supervisor.init_fd(), POLLIN, 0};
    ::poll(&ended, 1, kDyingMs);
    need_alive();
    throw;
  }
}

void LocalSandbox::ask(char type, const std::vector<std::string>& fields, std::span<const int> fds) {
  telling_why([&] { launched_.supervisor.request(type, fields, fds); });
}

CommandResult LocalSandbox::run(const CommandSpec& command, const Stop& stop) {
  need_alive();
  stop.check();
  const std::vector<std::string> env = merged_environment(parts_.plan.env, command.env);
  std::string spool = command.keep_full_output ? "/tmp/forge-output-" + std::to_string(++outputs_) + ".log" : "";
  const auto running = telling_why(
      [&] { return std::make_unique<RunningCommand>(launched_.supervisor, parts_.plan.identity, command, env, std::move(spool)); });
  CommandResult result = running->finish(stop);
  refine(result);
  if (running->stopped()) stop.check();
  return result;
}

/// The keeper and the exit status say how the command went; the group and the launcher say why.
void LocalSandbox::refine(CommandResult& result) {
  if (launched_.supervisor.gone()) {
    result.ended = why_gone();
  } else if (out_of_memory() && result.ended != Ended::timed_out && !result.exit.ok()) {
    result.ended = Ended::out_of_memory;
  }
}

std::string LocalSandbox::read_file(const std::string& path, std::size_t max_bytes, const Stop& stop) {
  need_alive();
  const std::string what = "reading '" + path + "'";
  SocketPair status = make_socketpair(SOCK_SEQPACKET);
  Pipe data = make_pipe();
  const std::array<int, 2> passed{status.theirs.get(), data.write.get()};
  ask(message::kRead, {absolute(path), std::to_string(max_bytes)}, passed);
  status.theirs.reset();
  data.write.reset();
  // One byte of room more: whoever sends more than the supervisor was allowed to is not the supervisor we started.
  std::string content = read_all(data.read.get(), max_bytes + 1, stop);
  const std::optional<Message> answer = receive_message(status.ours.get(), kMaxPacketBytes, stop);
  const std::optional<Packet> packet = answer ? unpack(answer->data) : std::nullopt;
  if (packet && packet->type == message::kNotStarted) throw_not_started(*packet, what);
  if (!packet || packet->type != message::kEnded) {
    need_alive();
    throw public_failure(ErrorCode::conflict, what + ": the reader was killed inside the sandbox");
  }
  if (content.size() > max_bytes)
    throw public_failure(ErrorCode::limit_exceeded, what + ": more than " + std::to_string(max_bytes) + " bytes");
  return content;
}

void LocalSandbox::write_file(const std::string& path, std::string_view content, const Stop& stop) {
  need_alive();
  const std::string what = "writing '" + path + "'";
  SocketPair status = make_socketpair(SOCK_SEQPACKET);
  SocketPair data = make_socketpair(SOCK_STREAM);
  const std::array<int, 2> passed{status.theirs.get(), data.theirs.get()};
  ask(message::kWrite, {absolute(path), std::to_string(content.size()), ""}, passed);
  status.theirs.reset();
  data.theirs.reset();
  try {
    write_all(data.ours.get(), content, stop);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unavailable) throw;  // else the writer gave up, and says why below
  }
  data.ours.reset();
  const std::optional<Message> answer = receive_message(status.ours.get(), kMaxPacketBytes, stop);
  const std::optional<Packet> packet = answer ? unpack(answer->data) : std::nullopt;
  if (packet && packet->type == message::kNotStarted) throw_not_started(*packet, what);
  if (packet && packet->type == message::kEnded) return;
  need_alive();
  throw public_failure(ErrorCode::conflict, what + ": the writer was killed inside the sandbox");
}

UniqueFd LocalSandbox::take_listener(int port) {
  const auto& ports = parts_.plan.ports;
  const auto found = std::find(ports.begin(), ports.end(), port);
  if (found == ports.end()) throw Error(ErrorCode::not_found, "the sandbox was made without a listener on port " + std::to_string(port));
  UniqueFd listener = std::move(launched_.listeners.at(static_cast<std::size_t>(found - ports.begin())));
  if (!listener) throw Error(ErrorCode::conflict, "the listener on port " + std::to_string(port) + " was taken before");
  return listener;
}

void LocalSandbox::halt(const Stop& stop) {
  if (launched_.supervisor.gone()) {
    if (!halted_) why_gone();
    halted_ = true;
    return;
  }
  halted_ = true;
  // The group first, where it can be killed at one moment; the end of pid 1 covers every machine, and is what is waited for.
  if (group() != nullptr) group()->kill();
  launched_.supervisor.end(stop);
}

void LocalSandbox::changes(const ChangeLimits& limits, ChangeSink& sink, const Stop& stop) {
  if (released_ || !launched_.supervisor.gone())
    throw Error(ErrorCode::conflict, "the changes of a sandbox can be read between halt() and release()");
  if (!launched_.upper) throw Error(ErrorCode::not_found, "the sandbox was made without a work tree");
  // The upper layer lives on in its memory file system as long as we hold this descriptor, although its mount namespace is gone.
  const ConfinedDir upper = ConfinedDir(checked_fd(::dup(launched_.upper.get()), "opening the upper layer"));
  read_changes(upper, ConfinedDir::open(parts_.plan.tree), limits, sink, stop);
}

void LocalSandbox::release() noexcept {
  if (std::exchange(released_, true)) return;
  // Its own deadline and not the caller's Stop: a cancelled run must be cleaned up like any other.
  try {
    halt(Stop::after(kReleaseTime));
    launched_.launcher.wait(Stop::after(kLauncherTime));
  } catch (const std::exception& e) {
    log_.error("releasing a sandbox failed", {{"sandbox", parts_.id}, {"why", e.what()}});
    parts_.holding->spend_identity();
  }
  launched_.upper.reset();
  launched_.listeners.clear();
  parts_.holding->give_back();
}

}  // namespace

std::unique_ptr<Sandbox> make_sandbox(Parts parts, Launched launched, Log& log) {
  return std::make_unique<LocalSandbox>(std::move(parts), std::move(launched), log);
}

}  // namespace forge::sandbox::local
