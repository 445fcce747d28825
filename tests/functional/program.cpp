#include "tests/functional/program.h"

#include <csignal>
#include <thread>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/guarded.h"

namespace forge::functional {
namespace {

// What a killed program left running may hold its pipes open; nobody waits for that.
constexpr auto kLastWords = std::chrono::seconds(5);

}  // namespace

struct Program::State {
  struct Heard {
    std::string out;
    std::string err;
    int open = 2;  ///< pipes that have not ended
  };
  UniqueFd out_end;
  UniqueFd err_end;
  Guarded<Heard> heard;
  std::optional<Child> child;
  std::jthread out_reader;
  std::jthread err_reader;

  /// Reads one pipe to its end.
  void listen(int fd, std::string Heard::*into, const std::stop_token& token) {
    const Stop stop(token);
    try {
      for (std::string piece = read_some(fd, 64 << 10, stop); !piece.empty(); piece = read_some(fd, 64 << 10, stop)) {
        auto locked = heard.lock();
        (*locked).*into += piece;
        locked.notify_all();
      }
    } catch (const Error& e) {
      if (e.code() != ErrorCode::cancelled) throw;
    }
    auto locked = heard.lock();
    --locked->open;
    locked.notify_all();
  }

  std::string wait_for(std::string Heard::*where, std::string_view text) {
    auto locked = heard.lock();
    const auto found = [&](const Heard& now) { return (now.*where).find(text) != std::string::npos; };
    const bool ended = locked.wait_until({}, patience().deadline(), [&](const Heard& now) { return now.open == 0 || found(now); });
    if (found(*locked)) return (*locked).*where;
    throw Error(ErrorCode::unavailable, std::string(ended ? "the program ended" : "a minute passed") + " before it said '" +
                                            std::string(text) + "'; it said:\n" + locked->out + locked->err);
  }
};

Program::Program(SpawnOptions options, const std::string& input) : state_(std::make_unique<State>()) {
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe in;
  options.fds.emplace_back(out.write.get(), 1);
  options.fds.emplace_back(err.write.get(), 2);
  if (!input.empty()) {
    in = make_pipe();
    options.fds.emplace_back(in.read.get(), 0);
  }
  state_->child = Child::spawn(options);
  out.write.reset();
  err.write.reset();
  in.read.reset();
  state_->out_end = std::move(out.read);
  state_->err_end = std::move(err.read);
  State& state = *state_;
  state.out_reader =
      std::jthread([&state](const std::stop_token& token) { state.listen(state.out_end.get(), &Program::State::Heard::out, token); });
  state.err_reader =
      std::jthread([&state](const std::stop_token& token) { state.listen(state.err_end.get(), &Program::State::Heard::err, token); });
  if (!input.empty()) write_all(in.write.get(), input, patience());
}

Program::~Program() {
  if (!state_) return;
  state_->child->signal(SIGKILL);
  state_->out_reader.request_stop();
  state_->err_reader.request_stop();
}

Program::Program(Program&&) noexcept = default;

pid_t Program::pid() const { return state_->child->pid(); }
void Program::signal(int number) { state_->child->signal(number); }
std::string Program::wait_out(std::string_view text) { return state_->wait_for(&Program::State::Heard::out, text); }
std::string Program::wait_err(std::string_view text) { return state_->wait_for(&Program::State::Heard::err, text); }

Said Program::wait() {
  Said said;
  said.exit = state_->child->wait(patience());
  auto locked = state_->heard.lock();
  locked.wait_until({}, SteadyClock::now() + kLastWords, [](const Program::State::Heard& now) { return now.open == 0; });
  said.out = locked->out;
  said.err = locked->err;
  return said;
}

}  // namespace forge::functional
