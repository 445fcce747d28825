#include "tests/support/dummy_sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/loopback.h"

namespace forge::test {
namespace {

namespace fs = std::filesystem;
using sandbox::Captured;
using sandbox::CommandResult;
using sandbox::CommandSpec;
using sandbox::Ended;

constexpr std::array<std::string_view, 3> kInside{"/workspace", "/home/agent", "/tmp"};

bool part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.'; }

/// The length of the inside name that stands at `at` as a whole path component, or 0.
std::size_t inside_name_at(const std::string& text, std::size_t at) {
  if (text[at] != '/' || (at > 0 && (part_of_name(text[at - 1]) || text[at - 1] == '/'))) return 0;
  for (const std::string_view name : kInside) {
    if (text.compare(at, name.size(), name) != 0) continue;
    if (at + name.size() == text.size() || !part_of_name(text[at + name.size()])) return name.size();
  }
  return 0;
}

[[noreturn]] void fail_as_told(ErrorCode code, const std::string& what) { throw Error(code, "dummy sandbox was told to fail: " + what); }

/// argv[0] as kPath would find it.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  for (const char* directory : {"/usr/local/bin/", "/usr/bin/", "/bin/"})
    if (::access((directory + name).c_str(), X_OK) == 0) return directory + name;
  throw Error(ErrorCode::not_found, "no such program: " + name);
}

UniqueFd input_file(const std::string& text) {
  UniqueFd file = checked_fd(::memfd_create("input", MFD_CLOEXEC), "making a memory file");
  write_all(file.get(), text, Stop());
  checked(static_cast<int>(::lseek(file.get(), 0, SEEK_SET)), "rewinding");
  return file;
}

Captured cut(const std::string& all, std::size_t max_bytes) {
  Captured captured;
  captured.bytes = static_cast<std::int64_t>(all.size());
  captured.head = all;
  if (all.size() <= max_bytes) return captured;
  const std::size_t head = max_bytes / 5;
  captured.tail = all.substr(all.size() - (max_bytes - head));
  captured.head.resize(head);
  captured.cut_bytes = static_cast<std::int64_t>(all.size() - max_bytes);
  return captured;
}

}  // namespace

/// The read ends of a running command's output and what came through them.
struct DummySandbox::Streams {
  UniqueFd out;
  UniqueFd err;
  std::string out_text;
  std::string err_text;

  /// Reads what is there now and returns it; closes at the end of the stream.
  std::string drain(bool is_stderr) {
    UniqueFd& fd = is_stderr ? err : out;
    std::string piece;
    std::array<char, 16384> buffer{};
    while (fd) {
      const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
      if (got > 0) piece.append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0) fd.reset();
      if (got < 0 && errno != EINTR) break;
    }
    (is_stderr ? err_text : out_text) += piece;
    return piece;
  }
};

DummySandbox::DummySandbox(sandbox::SandboxSpec spec) : spec_(std::move(spec)), directory_(std::in_place), root_(directory_->str()) {
  for (const std::string_view name : kInside) fs::create_directories(root_ + std::string(name));
  static std::atomic<int> made{0};
  id_ = "dummy-" + std::to_string(++made);
  if (spec_.tree)
    fs::copy(spec_.tree->directory, host_path("/workspace"),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks | fs::copy_options::overwrite_existing);
  open_listeners();
}

DummySandbox::~DummySandbox() { release(); }

std::string DummySandbox::inward(const std::string& text) const {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = inside_name_at(text, at);
    if (length > 0) result += root_;
    result.append(text, at, std::max<std::size_t>(length, 1));
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string DummySandbox::outward(std::string text) const {
  for (std::size_t at = text.find(root_); at != std::string::npos; at = text.find(root_, at)) text.erase(at, root_.size());
  return text;
}

std::string DummySandbox::host_path(const std::string& path) const {
  if (path.starts_with('/')) return inward(path);
  return root_ + "/workspace/" + path;
}

int DummySandbox::machine_port(int port) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? 0 : found->second;
}

void DummySandbox::open_listeners() {
  for (const int port : spec_.listener_ports) {
    Listener made = listen_on_loopback();
    ports_[port] = made.port;
    listeners_[port] = std::move(made.fd);
  }
}

SpawnOptions DummySandbox::spawn_options(const CommandSpec& command) const {
  SpawnOptions options;
  for (const std::string& word : command.argv) options.argv.push_back(inward(word));
  for (const auto& file : spec_.files)
    if (file.target == options.argv.at(0)) options.argv.at(0) = file.source;
  options.argv.at(0) = find_program(options.argv.at(0));
  options.cwd = host_path(command.cwd);
  std::map<std::string, std::string> env{
      {"PATH", std::string(sandbox::kPath)}, {"HOME", "/home/agent"}, {"TMPDIR", "/tmp"}, {"LANG", "C.UTF-8"}};
  for (const auto& [name, value] : spec_.env) env[name] = value;
  for (const auto& [name, value] : command.env) env[name] = value;
  for (const auto& [name, value] : env) options.env.push_back(name + "=" + inward(value));
  return options;
}

Ended DummySandbox::attend(Child& child, Streams& streams, const CommandSpec& command, const Stop& stop) {
  const auto publish = [&] {
    for (const bool is_stderr : {false, true}) {
      const std::string piece = outward(streams.drain(is_stderr));
      if (command.on_output && !piece.empty()) command.on_output(piece, is_stderr);
    }
  };
  const Stop limit = stop.shorter(command.timeout);
  const StopWatch watch(stop);
  while (true) {
    std::array<pollfd, 4> polled{pollfd{child.pid_fd(), POLLIN, 0}, pollfd{streams.out.get(), POLLIN, 0},
                                 pollfd{streams.err.get(), POLLIN, 0}, pollfd{watch.fd(), POLLIN, 0}};
    ::poll(polled.data(), polled.size(), limit.poll_timeout_ms());
    publish();
    if (polled[0].revents != 0) {
      publish();  // what came between the last read and the end
      return Ended::exited;
    }
    if (!limit.cancelled() && !limit.expired()) continue;
    ::kill(-child.pid(), SIGKILL);
    child.wait(Stop());
    stop.check();  // cancelled, or the caller's own deadline
    return Ended::timed_out;
  }
}

CommandResult DummySandbox::run(const CommandSpec& command, const Stop& stop) {
  commands_.push_back(command);
  if (halted_) throw Error(ErrorCode::unavailable, "the sandbox was halted");
  if (failures.run && failures.runs_before_failure-- <= 0) fail_as_told(*failures.run, "run");

  SpawnOptions options = spawn_options(command);
  const UniqueFd input = input_file(command.input);
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  set_nonblocking(out.read.get(), true);
  set_nonblocking(err.read.get(), true);
  options.fds = {{input.get(), 0}, {out.write.get(), 1}, {command.merge_output ? out.write.get() : err.write.get(), 2}};
  const auto began = SteadyClock::now();
  Child child = Child::spawn(options);
  out.write.reset();
  err.write.reset();
  Streams streams{std::move(out.read), std::move(err.read), {}, {}};

  CommandResult result;
  result.ended = attend(child, streams, command, stop);
  result.exit = child.wait(Stop());
  if (::kill(-child.pid(), 0) == 0) groups_.push_back(child.pid());
  if (failures.ended) result.ended = *failures.ended;
  const std::string all = outward(streams.out_text);
  result.out = cut(all, command.max_output_bytes);
  result.err = cut(outward(streams.err_text), command.max_output_bytes);
  if (command.keep_full_output && result.out.truncated()) {
    result.full_output_path = "/tmp/full-output-" + std::to_string(++outputs_);
    std::ofstream(host_path(result.full_output_path), std::ios::binary) << all;
  }
  result.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began).count();
  return result;
}

std::string DummySandbox::read_file(const std::string& path, std::size_t max_bytes, const Stop& stop) {
  stop.check();
  if (failures.read_file) fail_as_told(*failures.read_file, "read_file");
  const std::string host = host_path(path);
  if (!fs::exists(host)) throw Error(ErrorCode::not_found, "no such file: " + path);
  if (fs::is_directory(host)) throw Error(ErrorCode::invalid_argument, "a directory: " + path);
  std::string content = test::read_file(host);
  if (content.size() > max_bytes) throw Error(ErrorCode::limit_exceeded, "more than " + std::to_string(max_bytes) + " bytes: " + path);
  return content;
}

void DummySandbox::write_file(const std::string& path, std::string_view content, const Stop& stop) {
  stop.check();
  if (failures.write_file) fail_as_told(*failures.write_file, "write_file");
  const std::string host = host_path(path);
  if (!host.starts_with(root_)) throw Error(ErrorCode::permission_denied, "outside of the sandbox: " + path);
  if (fs::is_directory(host)) throw Error(ErrorCode::invalid_argument, "a directory: " + path);
  std::error_code failed;
  fs::create_directories(fs::path(host).parent_path(), failed);
  std::ofstream file(host, std::ios::binary | std::ios::trunc);
  file << content;
  if (failed || !file.flush()) throw Error(ErrorCode::permission_denied, "not writable: " + path);
}

UniqueFd DummySandbox::take_listener(int port) {
  const auto found = listeners_.find(port);
  if (found == listeners_.end() || !found->second) throw Error(ErrorCode::not_found, "no listener for port " + std::to_string(port));
  return std::move(found->second);
}

void DummySandbox::kill_all() noexcept {
  for (const int group : groups_) ::kill(-group, SIGKILL);
  groups_.clear();
}

void DummySandbox::halt(const Stop&) {
  kill_all();
  if (!halted_ && counts_) counts_->lock()->halted++;
  halted_ = true;
}

void DummySandbox::release() noexcept {
  kill_all();
  halted_ = true;
  listeners_.clear();
  if (!directory_) return;
  directory_.reset();
  if (counts_) counts_->lock()->released++;
}

sandbox::CapabilityReport DummyDriver::probe(const Stop&) {
  return {"dummy", true, {{"isolation", false, false, "a dummy confines nothing", "use the local driver"}}};
}

std::unique_ptr<sandbox::Sandbox> DummyDriver::acquire(const sandbox::SandboxSpec& spec, const Stop& stop) {
  stop.check();
  const DummyFailures failures = *failures_.lock();
  if (failures.acquire) fail_as_told(*failures.acquire, "acquire");
  auto made = std::make_unique<DummySandbox>(spec);
  made->failures = failures;
  made->counts_ = counts_;
  counts_->lock()->acquired++;
  return made;
}

}  // namespace forge::test
