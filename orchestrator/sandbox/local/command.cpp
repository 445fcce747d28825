#include "orchestrator/sandbox/local/command.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "orchestrator/base/error.h"
#include "orchestrator/sandbox/local/seccomp.h"

namespace forge::sandbox::local {
namespace {

using std::chrono::milliseconds;

constexpr auto kGrace = std::chrono::seconds(2);       // after SIGTERM
constexpr auto kKeeperTime = std::chrono::seconds(4);  // for the keeper to kill what descends from the command
constexpr auto kKillAllTime = std::chrono::seconds(10);
constexpr std::size_t kPipeRead = 64 << 10;
constexpr std::size_t kMostDrained = 2 << 20;  // more than a pipe can hold: what comes later was not written by the command itself

void refuse_nul(const std::string& text, const char* what) {
  if (text.find('\0') != std::string::npos)
    throw public_failure(ErrorCode::invalid_argument, std::string(what) + " of a command holds a NUL byte");
}

void check(const CommandSpec& command) {
  if (command.argv.empty() || command.argv.front().empty())
    throw public_failure(ErrorCode::invalid_argument, "a command needs at least its name");
  for (const std::string& argument : command.argv) refuse_nul(argument, "an argument");
  refuse_nul(command.cwd, "the directory");
}

/// Belongs to the job, so that "> /dev/stderr", which opens the pipe anew by its name, is not refused.
Pipe job_pipe(const Identity& identity) {
  Pipe pipe = make_pipe();
  if (identity.pooled) checked(::fchown(pipe.write.get(), identity.uid, identity.gid), "giving a pipe to the job");
  return pipe;
}

std::string inside_directory(const std::string& cwd) {
  if (cwd.empty()) return std::string(kWorkspace);
  return cwd.starts_with('/') ? cwd : std::string(kWorkspace) + "/" + cwd;
}

/// Never `unavailable`, which says that the sandbox is gone and ends the run: whatever a path or program inside answers, it lives.
ErrorCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::permission_denied;
    case EISDIR:
    case EINVAL:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:  // a FIFO that nobody reads, a socket
    case ENODEV:
    case ENOEXEC:
    case E2BIG: return ErrorCode::invalid_argument;
    case EFBIG:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case EAGAIN:
    case ENOMEM: return ErrorCode::limit_exceeded;
    default: return ErrorCode::conflict;  // ETXTBSY, EBUSY, EIO: not now
  }
}

}  // namespace

void throw_not_started(const Packet& answer, const std::string& what) {
  const std::string step = answer.fields.empty() ? "starting" : answer.fields[0].substr(0, 200);
  const auto error = answer.fields.size() < 2 ? std::nullopt : number_in(answer.fields[1]);
  const int number = error && *error > 0 && *error < 4096 ? static_cast<int>(*error) : EIO;
  throw public_failure(code_of(number), what + ": " + step + ": " + std::generic_category().message(number));
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& base,
                                            const std::vector<std::pair<std::string, std::string>>& own) {
  std::vector<std::pair<std::string, std::string>> all = base;
  for (const auto& [name, value] : own) {
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos || value.find('\0') != std::string::npos)
      throw public_failure(ErrorCode::invalid_argument, "'" + name + "' cannot be a variable of an environment");
    const auto old = std::find_if(all.begin(), all.end(), [&name = name](const auto& pair) { return pair.first == name; });
    if (old == all.end()) {
      all.emplace_back(name, value);
    } else {
      old->second = value;
    }
  }
  std::vector<std::string> texts;
  texts.reserve(all.size());
  for (const auto& [name, value] : all) texts.push_back(name + "=" + value);
  return texts;
}

RunningCommand::RunningCommand(const Supervisor& supervisor, const Identity& identity, const CommandSpec& command,
                               const std::vector<std::string>& env, std::string spool_path)
    : supervisor_(supervisor),
      command_(command),
      started_(SteadyClock::now()),
      out_{{}, Capture(command.max_output_bytes), false},
      err_{{}, Capture(command.max_output_bytes), true} {
  check(command);
  // Pipes are ours, so that the output can be read on when everything inside is dead.
  if (command.keep_full_output) spool_.emplace(supervisor, std::move(spool_path));
  Pipe out = job_pipe(identity);
  out_.reader = std::move(out.read);
  set_nonblocking(out_.reader.get(), true);
  UniqueFd err_writer;
  if (!command.merge_output) {
    Pipe err = job_pipe(identity);
    err_.reader = std::move(err.read);
    set_nonblocking(err_.reader.get(), true);
    err_writer = std::move(err.write);
  }
  SocketPair status = make_socketpair(SOCK_SEQPACKET);
  status_ = std::move(status.ours);
  UniqueFd in;
  if (!command.input.empty()) in = sealed_file("input", command.input);
  send_request(env, std::move(out.write), std::move(err_writer), in, status.theirs);
}

void RunningCommand::send_request(const std::vector<std::string>& env, UniqueFd out, UniqueFd err, const UniqueFd& in,
                                  const UniqueFd& status) {
  std::vector<int> passed{status.get(), out.get(), out_.reader.get()};
  std::string flags;
  if (in) {
    passed.push_back(in.get());
    flags += 'i';
  }
  if (err) {
    passed.push_back(err.get());
    passed.push_back(err_.reader.get());
    flags += 'e';
  }
  std::vector<std::string> fields{flags, inside_directory(command_.cwd), std::to_string(command_.argv.size())};
  fields.insert(fields.end(), command_.argv.begin(), command_.argv.end());
  fields.insert(fields.end(), env.begin(), env.end());
  supervisor_.request(message::kRun, fields, passed);
}

RunningCommand::~RunningCommand() {
  // Only when finish() was left by an exception, of the caller's output reader for example.
  if (over() || !status_) return;
  try {
    send_message(status_.get(), pack(message::kKill));
    pump([this] { return none_left_ || lost_; }, SteadyClock::now() + kKeeperTime, nullptr);
    if (!none_left_) supervisor_.kill_all(Stop::after(kKillAllTime));
  } catch (const std::exception&) {
    supervisor_.kill_all(Stop::after(kKillAllTime));
  }
}

/// Handles what arrives until `done`, the time, the end of the sandbox, or `stop`. True when `done`.
template <typename Done>
bool RunningCommand::pump(Done done, SteadyClock::time_point until, const Stop* stop) {
  const StopWatch watch(stop != nullptr ? *stop : Stop());
  const Stop limit = stop != nullptr ? stop->shorter(std::max(until - SteadyClock::now(), SteadyClock::duration::zero())) : Stop({}, until);
  while (!done()) {
    if (limit.cancelled() || limit.expired()) return false;
    std::array<pollfd, 5> polled{pollfd{out_.reader.get(), POLLIN, 0}, pollfd{err_.reader.get(), POLLIN, 0},
                                 pollfd{status_.get(), POLLIN, 0}, pollfd{supervisor_.init_fd(), POLLIN, 0}, pollfd{watch.fd(), POLLIN, 0}};
    if (::poll(polled.data(), polled.size(), limit.poll_timeout_ms()) < 0) continue;
    if (polled[0].revents != 0) read_stream(out_, kPipeRead);
    if (polled[1].revents != 0) read_stream(err_, kPipeRead);
    if (polled[2].revents != 0) read_status();
    if (polled[3].revents != 0 && polled[2].revents == 0) lost_ = true;
  }
  return true;
}

void RunningCommand::read_stream(Stream& stream, std::size_t most) {
  std::array<char, kPipeRead> buffer;
  const ssize_t got = ::read(stream.reader.get(), buffer.data(), std::min(most, buffer.size()));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return stream.reader.reset();
  const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
  stream.capture.add(piece);
  if (spool_) spool_->add(piece, out_.capture.cut() || err_.capture.cut());
  if (command_.on_output) command_.on_output(piece, stream.is_stderr);
}

void RunningCommand::read_status() {
  const std::optional<Message> message = receive_message(status_.get(), kMaxPacketBytes, Stop());
  const std::optional<Packet> packet = message ? unpack(message->data) : std::nullopt;
  if (!packet) {
    lost_ = true;
    return status_.reset();
  }
  if (packet->type == message::kNotStarted) {
    lost_ = true;
    throw_not_started(*packet, "running '" + command_.argv.front() + "'");
  }
  if (packet->type == message::kGone) none_left_ = true;
  if (packet->type == message::kEnded && !packet->fields.empty()) wait_status_ = static_cast<int>(number_in(packet->fields[0]).value_or(0));
}

CommandResult RunningCommand::finish(const Stop& stop) {
  const auto timeout = std::max(command_.timeout, milliseconds(0));
  const bool ended = pump([this] { return over(); }, started_ + timeout, &stop);
  if (!ended) {
    stopped_ = stop.cancelled() || stop.expired();
    timed_out_ = true;
    end_by_ladder();
  } else if (lost_ && !supervisor_.gone() && !supervisor_.kill_all(Stop::after(kKillAllTime))) {
    // The keeper was killed from inside: nobody knows any more which processes were the command's.
    supervisor_.end(Stop::after(kKillAllTime));
  }
  drain();
  return result();
}

/// SIGTERM to the group, grace, then whatever descends from the command; when even that does not end (the keeper was stopped, or something
/// forks faster than it is found), everything that runs in the sandbox.
void RunningCommand::end_by_ladder() {
  const auto tell = [this](char type) {
    if (!status_) return;
    try {
      send_message(status_.get(), pack(type));
    } catch (const Error&) {
      lost_ = true;
    }
  };
  // Forge keeps the time and the keeper does the killing: a keeper that was stopped from inside cannot stretch the time-out.
  tell(message::kTerminate);
  pump([this] { return over(); }, SteadyClock::now() + kGrace, nullptr);
  tell(message::kKill);
  if (!lost_) pump([this] { return none_left_ || lost_; }, SteadyClock::now() + kKeeperTime, nullptr);
  if (none_left_ || supervisor_.gone()) return;
  if (!supervisor_.kill_all(Stop::after(kKillAllTime))) supervisor_.end(Stop::after(kKillAllTime));
}

/// What the command wrote before it ended is in the pipes by now. A background process may go on writing: that is not waited for.
void RunningCommand::drain() {
  for (Stream* stream : {&out_, &err_}) {
    int waiting = 0;
    if (!stream->reader || ::ioctl(stream->reader.get(), FIONREAD, &waiting) < 0) continue;
    std::size_t left = std::min(static_cast<std::size_t>(std::max(waiting, 0)), kMostDrained);
    while (left > 0 && stream->reader) {
      const std::size_t piece = std::min(left, kPipeRead);
      read_stream(*stream, piece);
      left -= piece;
    }
  }
}

CommandResult RunningCommand::result() {
  CommandResult result;
  result.duration_ms = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - started_).count();
  if (wait_status_ && WIFSIGNALED(*wait_status_)) result.exit.signal = WTERMSIG(*wait_status_);
  if (wait_status_ && WIFEXITED(*wait_status_)) result.exit.code = WEXITSTATUS(*wait_status_);
  if (timed_out_) {
    result.ended = Ended::timed_out;
  } else if (!wait_status_) {
    result.ended = supervisor_.gone() ? Ended::driver_lost : Ended::killed;
  }
  if (spool_) result.full_output_path = spool_->finish();
  result.out = std::move(out_.capture).take();
  result.err = std::move(err_.capture).take();
  return result;
}

}  // namespace forge::sandbox::local
