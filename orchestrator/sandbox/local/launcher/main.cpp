// forge-sandbox: makes one sandbox and watches over it. The plan comes from Forge over descriptor 3, as data; everything that goes wrong
// ends the program. It is static and small: the process that starts untrusted code owns nothing else.
//
// What the sandbox it makes promises, and where:
//   namespaces and identity   start.cpp, drop.cpp
//   the file tree             mounts.cpp
//   no network but loopback   network.cpp
//   nothing to give away      drop.cpp
//   every process accounted   supervisor.cpp, keeper.cpp

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "orchestrator/sandbox/local/launcher/probe.h"
#include "orchestrator/sandbox/local/launcher/start.h"
#include "orchestrator/sandbox/local/launcher/step.h"
#include "orchestrator/sandbox/local/wire.h"

namespace {

namespace fsl = forge::sandbox::local;

constexpr int kControlFd = 3;

int serve() {
  forge::UniqueFd control(kControlFd);
  try {
    std::optional<forge::Message> message = forge::receive_message(control.get(), fsl::kMaxSpecBytes, forge::Stop());
    if (!message) return 1;
    const fsl::launcher::Spec spec = fsl::launcher::parse_spec(message->data);
    return fsl::launcher::start(spec, std::move(message->fds), control);
  } catch (const fsl::launcher::StepFailed& e) {
    forge::send_message(kControlFd, fsl::pack(fsl::message::kFailed, {e.what(), std::to_string(e.error())}));
  } catch (const std::exception& e) {
    forge::send_message(kControlFd, fsl::pack(fsl::message::kFailed, {e.what(), "0"}));
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--probe") == 0) return fsl::launcher::probe(argv[2]);
  if (argc != 1) {
    std::fputs("forge-sandbox is started by forge\n", stderr);
    return 2;
  }
  return serve();
}
