#include "tests/support/plain_user.h"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <iostream>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"

namespace forge::test {
namespace {

constexpr int kThrew = 201;
constexpr unsigned kNobody = 65534;

int run_without_rights(const std::function<int()>& body) {
  try {
    if (::geteuid() == 0) {
      checked(::setgroups(0, nullptr), "leaving the groups");
      checked(::setresgid(kNobody, kNobody, kNobody), "becoming group nobody");
      checked(::setresuid(kNobody, kNobody, kNobody), "becoming user nobody");
    }
    return body();
  } catch (const std::exception& error) {
    std::cerr << "as a plain user: " << error.what() << '\n';
    return kThrew;
  }
}

}  // namespace

int as_plain_user(const std::function<int()>& body) {
  const pid_t pid = checked(::fork(), "forking");
  if (pid == 0) ::_exit(run_without_rights(body));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) throw system_failure("waiting for a child", errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kThrew;
}

}  // namespace forge::test
