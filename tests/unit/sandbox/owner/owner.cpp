// The process that the crash tests kill: it holds a sandbox with two marked processes in it until its end.
// sandbox-owner RUN_DIRECTORY MARK

#include <cstdio>
#include <exception>
#include <string>

#include "orchestrator/base/log.h"
#include "orchestrator/sandbox/drivers.h"
#include "tests/support/temp_dir.h"

namespace {

int hold(const std::string& run, const std::string& mark) {
  using namespace forge;
  const auto log = make_null_log();
  const auto driver = sandbox::make_driver("local", {.run_directory = run, .log = *log});
  sandbox::SandboxSpec wanted;
  wanted.scope = "crash test";
  wanted.tree = sandbox::TreeSource{run};
  const auto sandbox = driver->acquire(wanted, Stop::after(std::chrono::seconds(50)));
  sandbox->run({.argv = {"sh", "-c", "setsid sleep " + mark + " >/dev/null 2>&1 & echo"}}, Stop::after(std::chrono::seconds(50)));
  test::write_file(run + "/ready", "ready");
  sandbox->run({.argv = {"sleep", mark}}, Stop::after(std::chrono::seconds(60)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return hold(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
