// The hostile program of the sandbox tests: one attack per word, run inside. It prints what happened and never judges.

#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;

/// "number:a:b:c" > errno of the call with these arguments, 0 when it went through. "@" is a pointer to zeroes.
int call(const char* text) {
  static char zeroes[kPage];
  long values[7] = {};
  int count = 0;
  for (char* at = const_cast<char*>(text); count < 7 && *at != '\0'; ++count) {
    if (*at == '@') {
      values[count] = reinterpret_cast<long>(&zeroes[0]);
      ++at;
    } else {
      values[count] = static_cast<long>(std::strtoull(at, &at, 0));
    }
    if (*at == ':') ++at;
  }
  errno = 0;
  const long result = ::syscall(values[0], values[1], values[2], values[3], values[4], values[5], values[6]);
  return result < 0 ? errno : 0;
}

/// Touches memory without end.
[[noreturn]] void hog() {
  while (true) {
    void* piece = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) std::exit(9);
    std::memset(piece, 1, 1 << 20);
  }
}

/// Forks until it cannot, prints how many; the children stay.
void bomb() {
  int born = 0;
  while (true) {
    const pid_t pid = ::fork();
    if (pid < 0) break;
    if (pid == 0) {
      ::pause();
      ::_exit(0);
    }
    ++born;
  }
  std::printf("%d\n", born);
}

/// A process that is never there when it is looked for: each generation lives only until it has forked the next.
[[noreturn]] void comet() {
  ::signal(SIGTERM, SIG_IGN);
  if (::fork() > 0) {
    while (true) ::pause();
  }
  while (true) {
    const pid_t pid = ::fork();
    if (pid > 0) ::_exit(0);
    ::setsid();
  }
}

/// Leaves a daemon behind that holds none of our descriptors, and ends.
void leave_daemon(bool wait) {
  if (::fork() == 0) {
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    if (::fork() != 0) ::_exit(0);
    for (int fd = 0; fd < 16; ++fd) ::close(fd);
    while (true) ::pause();
  }
  ::wait(nullptr);
  if (!wait) return;
  while (true) ::pause();
}

int connect_tcp(const char* address, int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<unsigned short>(port));
  ::inet_pton(AF_INET, address, &to.sin_addr);
  return ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) < 0 ? errno : 0;
}

int connect_abstract(const std::string& name) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(&to.sun_path[1], name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::connect(fd, reinterpret_cast<sockaddr*>(&to), length) < 0 ? errno : 0;
}

/// Takes as many as it gets of what the kernel has for a whole machine; prints how many, one per line.
void grab() {
  constexpr int kEnough = 900;  // below the limit of open files
  const auto count = [](auto take) {
    int taken = 0;
    while (taken < kEnough && take(taken)) ++taken;
    std::printf("%d\n", taken);
  };
  std::vector<int> held;
  const auto keep = [&](int fd) {
    if (fd >= 0) held.push_back(fd);
    return fd >= 0;
  };
  const auto let_go = [&] {
    for (const int fd : held) ::close(fd);
    held.clear();
  };
  count([&](int) { return keep(::inotify_init1(IN_CLOEXEC)); });
  let_go();
  count([&](int) { return keep(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)); });
  let_go();
  count([&](int number) { return keep(::mq_open(("/" + std::to_string(number)).c_str(), O_CREAT | O_RDWR, 0600, nullptr)); });
  let_go();
  sigset_t queued;
  sigemptyset(&queued);
  sigaddset(&queued, SIGRTMIN);
  ::sigprocmask(SIG_BLOCK, &queued, nullptr);
  int signals = 0;
  while (signals < 100'000 && ::sigqueue(::getpid(), SIGRTMIN, sigval{}) == 0) ++signals;
  std::printf("%d\n", signals);
}

/// System calls through the 32-bit door.
void call_i386() {
#if defined(__x86_64__)
  long result = 20;  // getpid there
  asm volatile("int $0x80" : "+a"(result) : : "memory");
  std::printf("%ld\n", result);
#endif
}

void kill_all_pids() {
  for (pid_t pid = 1; pid < 400; ++pid) {
    if (pid != ::getpid()) ::kill(pid, SIGKILL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "calls") {
    for (int i = 2; i < argc; ++i) std::printf("%d\n", call(argv[i]));
  }
  if (what == "hog") hog();
  if (what == "bomb") bomb();
  if (what == "grab") grab();
  if (what == "comet") comet();
  if (what == "daemon") leave_daemon(false);
  if (what == "daemon-and-wait") leave_daemon(true);
  if (what == "tcp") std::printf("%d\n", connect_tcp(argv[2], std::atoi(argv[3])));
  if (what == "abstract") std::printf("%d\n", connect_abstract(argv[2]));
  if (what == "i386") call_i386();
  if (what == "kill-everybody") kill_all_pids();
  if (what == "deaf") {
    ::signal(SIGTERM, SIG_IGN);
    while (true) ::pause();
  }
  return 0;
}
