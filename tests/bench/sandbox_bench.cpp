// The local driver beside bubblewrap, docker and nsenter. All candidates of one table run interleaved, round-robin, so that the load of
// the machine is the same for all: absolute times move with it, ratios do not.

#include "tests/bench/sandbox_bench.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/process.h"
#include "orchestrator/sandbox/drivers.h"
#include "tests/bench/samples.h"
#include "tests/support/temp_dir.h"

namespace forge::bench {
namespace {

namespace fs = std::filesystem;
using sandbox::Policy;
using sandbox::Sandbox;
using sandbox::SandboxDriver;

constexpr int kSandboxRounds = 60;
constexpr int kWarmUp = 5;

/// One way to do the same thing: `timed` is on the clock, what it returns is undone off it.
struct Candidate {
  std::string name;
  std::function<std::function<void()>()> timed;
  double goal = 0;  ///< of our ratio to it; 0: none
  Samples samples = {};
};

void measure(std::vector<Candidate>& candidates, int rounds) {
  for (int round = -kWarmUp; round < rounds; ++round) {
    for (Candidate& candidate : candidates) {
      const auto started = SteadyClock::now();
      const std::function<void()> undo = candidate.timed();
      const auto took = SteadyClock::now() - started;
      if (undo) undo();
      if (round >= 0) candidate.samples.add(took);
    }
  }
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(2);
  text << std::fixed << value;
  return text.str();
}

void print_row(std::ostream& out, const std::array<std::string, 4>& cells) {
  std::string line = "  " + cells[0];
  line.resize(std::max<std::size_t>(line.size() + 1, 44), ' ');
  for (std::size_t i = 1; i < cells.size(); ++i) line += std::string(10 - std::min<std::size_t>(9, cells.at(i).size()), ' ') + cells.at(i);
  out << line << "\n";
}

void print(std::ostream& out, const std::vector<Candidate>& candidates) {
  print_row(out, {"", "p50 ms", "p95 ms", "min ms"});
  for (const Candidate& one : candidates)
    print_row(out, {one.name, number(one.samples.p50()), number(one.samples.p95()), number(one.samples.at(0))});
}

void print_ratio(std::ostream& out, const Candidate& ours, const Candidate& other, double goal) {
  const double ratio = ours.samples.p50() / other.samples.p50();
  out << "  ratio " << ours.name << " / " << other.name << ": " << number(ratio) << " (goal at most " << number(goal) << ": "
      << (ratio <= goal ? "holds" : "MISSED") << ")\n";
}

/// Runs a program to its end; its exit code is checked, because a failing candidate is always fast.
std::function<void()> run_program(const std::vector<std::string>& argv) {
  SpawnOptions options;
  options.argv = argv;
  options.env = {"PATH=/usr/bin:/bin"};
  const Exit exit = Child::spawn(options).wait(Stop::after(std::chrono::seconds(60)));
  if (!exit.ok()) throw Error(ErrorCode::internal, argv[0] + " failed in the bench");
  return {};
}

sandbox::SandboxSpec spec() {
  sandbox::SandboxSpec wanted;
  wanted.scope = "bench";
  return wanted;
}

void run_true(Sandbox& sandbox) {
  const sandbox::CommandResult result = sandbox.run({.argv = {"/usr/bin/true"}}, Stop::after(std::chrono::seconds(60)));
  if (!result.exit.ok()) throw Error(ErrorCode::internal, "true failed in a sandbox of the bench");
}

std::function<void()> cold(SandboxDriver& driver) {
  std::shared_ptr<Sandbox> made = driver.acquire(spec(), Stop::after(std::chrono::seconds(60)));
  run_true(*made);
  return [made] { made->release(); };
}

/// bubblewrap with every namespace and the mounts of our plan; it has no overlay (0.8), no seccomp of its own and no cgroups.
std::vector<std::string> bubblewrap(const std::string& etc) {
  std::vector<std::string> argv{
      "/usr/bin/bwrap", "--unshare-all", "--new-session", "--die-with-parent", "--cap-drop", "ALL", "--hostname", "sandbox", "--clearenv",
      "--ro-bind",      "/usr",          "/usr",          "--ro-bind",         etc,          "/etc"};
  const auto add = [&](std::initializer_list<const char*> words) { argv.insert(argv.end(), words.begin(), words.end()); };
  add({"--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
       "/lib64"});
  add({"--dir", "/run", "--tmpfs", "/tmp", "--symlink", "../run", "/var/run", "--symlink", "../tmp", "/var/tmp", "--dev", "/dev", "--tmpfs",
       "/dev/shm"});
  add({"--proc", "/proc", "--tmpfs", "/home/agent", "--tmpfs", "/workspace", "--chdir", "/workspace"});
  for (const char* masked : {"/proc/kcore", "/proc/keys", "/proc/timer_list"}) {
    if (fs::exists(masked)) add({"--ro-bind", "/dev/null", masked});
  }
  add({"--uid", "1000", "--gid", "1000", "--", "/usr/bin/true"});
  return argv;
}

void compare_cold(std::ostream& out, SandboxDriver& limited, SandboxDriver& unlimited) {
  const test::TempDir etc;
  test::write_file(etc / "passwd", "agent:x:1000:1000::/home/agent:/bin/sh\n");
  std::vector<Candidate> candidates;
  candidates.push_back({"forge, no cgroups", [&] { return cold(unlimited); }});
  candidates.push_back({"forge, pooled cgroups", [&] { return cold(limited); }});
  const bool wrapped = fs::exists("/usr/bin/bwrap");
  if (wrapped) candidates.push_back({"bubblewrap, the same mounts", [argv = bubblewrap(etc.str())] { return run_program(argv); }});
  candidates.push_back({"no sandbox: fork and exec", [] { return run_program({"/usr/bin/true"}); }});
  measure(candidates, kSandboxRounds);
  out << "Cold sandbox: from acquire to the exit status of `true`; release off the clock\n";
  print(out, candidates);
  if (!wrapped) {
    out << "  bubblewrap: skipped, not installed\n";
    return;
  }
  print_ratio(out, candidates[0], candidates[2], 0.9);
  print_ratio(out, candidates[1], candidates[2], 1.2);
}

/// The first host pid whose command line is `text` (arguments joined by blanks).
std::string pid_of(const std::string& text) {
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::ostringstream text_of_file;
    text_of_file << file.rdbuf();
    std::string line = text_of_file.str();
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (line == text + " ") return entry.path().filename().string();
  }
  throw Error(ErrorCode::not_found, "no process '" + text + "'");
}

void compare_exec(std::ostream& out, SandboxDriver& driver) {
  const auto sandbox = driver.acquire(spec(), Stop::after(std::chrono::seconds(60)));
  const std::string mark = std::string("sleep ") + "86399";
  sandbox->run({.argv = {"sh", "-c", mark + " &"}}, Stop::after(std::chrono::seconds(60)));
  std::vector<Candidate> candidates;
  candidates.push_back({"forge, exec in a live sandbox", [&] {
                          run_true(*sandbox);
                          return std::function<void()>();
                        }});
  const bool rootly = ::geteuid() == 0 && fs::exists("/usr/bin/nsenter");
  if (rootly) {
    const std::vector<std::string> argv{"/usr/bin/nsenter", "-t", pid_of(mark), "-a", "--preserve-credentials", "--", "/usr/bin/true"};
    candidates.push_back({"nsenter", [argv] { return run_program(argv); }});
  }
  measure(candidates, kSandboxRounds * 3);
  out << "Exec in a live sandbox: from run() to the exit status of `true`\n";
  print(out, candidates);
  if (rootly) {
    print_ratio(out, candidates[0], candidates[1], 1.0);
  } else {
    out << "  nsenter: skipped, it is not installed or this is not root\n";
  }
}

bool docker_answers() {
  if (!fs::exists("/usr/bin/docker") && !fs::exists("/usr/local/bin/docker")) return false;
  try {
    run_program({"/usr/bin/env", "docker", "image", "inspect", "debian:12"});
    return true;
  } catch (const Error&) {
    return false;
  }
}

void compare_docker(std::ostream& out, SandboxDriver& driver) {
  if (!docker_answers()) {
    out << "docker run: skipped, no engine with the image debian:12 answers\n";
    return;
  }
  std::vector<Candidate> candidates;
  candidates.push_back({"forge, pooled cgroups", [&] { return cold(driver); }});
  candidates.push_back({"docker run", [] {
                          return run_program({"/usr/bin/env", "docker", "run", "--rm", "--network=none", "--memory=512m", "--cpus=1",
                                              "--pids-limit=100", "debian:12", "true"});
                        }});
  measure(candidates, 10);
  out << "Cold sandbox against a container engine\n";
  print(out, candidates);
  print_ratio(out, candidates[0], candidates[1], 0.06);
}

}  // namespace

void bench_sandbox(std::ostream& out) {
  const test::TempDir data;
  const auto log = make_null_log();
  sandbox::DriverOptions options{.policy = Policy::strict, .run_directory = data.str() + "/run", .log = *log};
  const auto limited = make_driver("local", options);
  options.policy = Policy::degraded;
  options.cgroup_parent = "/no-such-group";
  const auto unlimited = make_driver("local", options);
  compare_cold(out, *limited, *unlimited);
  compare_exec(out, *limited);
  compare_docker(out, *limited);
}

}  // namespace forge::bench
