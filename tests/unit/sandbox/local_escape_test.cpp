#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "orchestrator/base/process.h"
#include "orchestrator/base/text.h"
#include "tests/support/paths.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using LocalEscape = LocalSandboxTest;

struct Call {
  const char* name;
  long number;
  const char* arguments;
  int expected;
};

// One row per denied call of the policy; arguments that would work for root on a bare machine as far as there are any.
constexpr std::array kCalls{
    Call{"mount", SYS_mount, "@:@:@:0:0", EPERM},
    Call{"umount2", SYS_umount2, "@:2", EPERM},
    Call{"pivot_root", SYS_pivot_root, "@:@", EPERM},
    Call{"chroot", SYS_chroot, "@", EPERM},
    Call{"fsopen", SYS_fsopen, "@:0", EPERM},
    Call{"fsmount", SYS_fsmount, "0:0:0", EPERM},
    Call{"fsconfig", SYS_fsconfig, "0:0:0:0:0", EPERM},
    Call{"move_mount", SYS_move_mount, "0:@:0:@:0", EPERM},
    Call{"open_tree", SYS_open_tree, "0:@:0", EPERM},
    Call{"mount_setattr", SYS_mount_setattr, "0:@:0:@:32", EPERM},
    Call{"ptrace", SYS_ptrace, "0:0:0:0", EPERM},
    Call{"process_vm_readv", SYS_process_vm_readv, "1:@:1:@:1:0", EPERM},
    Call{"process_vm_writev", SYS_process_vm_writev, "1:@:1:@:1:0", EPERM},
    Call{"pidfd_getfd", SYS_pidfd_getfd, "0:0:0", EPERM},
    Call{"kcmp", SYS_kcmp, "1:1:0:0:0", EPERM},
    Call{"setns", SYS_setns, "0:0", EPERM},
    Call{"unshare user", SYS_unshare, "0x10000000", EPERM},
    Call{"unshare mount", SYS_unshare, "0x20000", EPERM},
    Call{"unshare network", SYS_unshare, "0x40000000", EPERM},
    Call{"unshare time", SYS_unshare, "0x80", EPERM},
    Call{"unshare files only", SYS_unshare, "0x400", 0},
    Call{"clone user", SYS_clone, "0x10000011:0:0:0:0", EPERM},
    Call{"clone pid", SYS_clone, "0x20000011:0:0:0:0", EPERM},
    Call{"clone3", 435, "@:88", ENOSYS},
    Call{"bpf", SYS_bpf, "0:@:72", EPERM},
    Call{"perf_event_open", SYS_perf_event_open, "@:0:-1:-1:0", EPERM},
    Call{"userfaultfd", SYS_userfaultfd, "1", EPERM},
    Call{"io_uring_setup", SYS_io_uring_setup, "8:@", EPERM},
    Call{"io_uring_enter", SYS_io_uring_enter, "0:0:0:0", EPERM},
    Call{"io_uring_register", SYS_io_uring_register, "0:0:0:0", EPERM},
    Call{"io_setup", SYS_io_setup, "1:@", ENOSYS},
    Call{"keyctl", SYS_keyctl, "0:-3:0", EPERM},
    Call{"add_key", SYS_add_key, "@:@:@:1:-3", EPERM},
    Call{"request_key", SYS_request_key, "@:@:@:-3", EPERM},
    Call{"fanotify_init", SYS_fanotify_init, "0:0", EPERM},
    Call{"kexec_load", SYS_kexec_load, "0:0:0:0", EPERM},
    Call{"init_module", SYS_init_module, "@:0:@", EPERM},
    Call{"finit_module", SYS_finit_module, "0:@:0", EPERM},
    Call{"delete_module", SYS_delete_module, "@:0", EPERM},
    Call{"reboot", SYS_reboot, "0:0:0:0", EPERM},
    Call{"swapon", SYS_swapon, "@:0", EPERM},
    Call{"acct", SYS_acct, "0", EPERM},
    Call{"quotactl", SYS_quotactl, "0:@:0:@", EPERM},
    Call{"syslog", SYS_syslog, "3:@:10", EPERM},
    Call{"clock_settime", SYS_clock_settime, "0:@", EPERM},
    Call{"adjtimex", SYS_adjtimex, "@", EPERM},
    Call{"settimeofday", SYS_settimeofday, "@:0", EPERM},
    Call{"sethostname", SYS_sethostname, "@:1", EPERM},
    Call{"open_by_handle_at", SYS_open_by_handle_at, "0:@:0", EPERM},
    Call{"name_to_handle_at", SYS_name_to_handle_at, "0:@:@:@:0", EPERM},
    Call{"personality without random addresses", SYS_personality, "0x40000", ENOSYS},
    Call{"personality asked for", SYS_personality, "0xffffffff", 0},
    Call{"TIOCSTI", SYS_ioctl, "0:0x5412:@", EPERM},
    Call{"TIOCSTI with high bits", SYS_ioctl, "0:0x100005412:@", EPERM},
    Call{"TIOCLINUX", SYS_ioctl, "0:0x541c:@", EPERM},
    Call{"AF_VSOCK", SYS_socket, "40:1:0", EAFNOSUPPORT},
    Call{"AF_VSOCK with high bits", SYS_socket, "0x100000028:1:0", EAFNOSUPPORT},
    Call{"AF_PACKET", SYS_socket, "17:3:0", EAFNOSUPPORT},
    Call{"AF_ALG", SYS_socket, "38:5:0", EAFNOSUPPORT},
    Call{"AF_NETLINK route", SYS_socket, "16:3:0", 0},
    Call{"AF_NETLINK audit", SYS_socket, "16:3:9", EPROTONOSUPPORT},
    Call{"AF_NETLINK netfilter", SYS_socket, "16:3:12", EPROTONOSUPPORT},
    Call{"AF_UNIX", SYS_socket, "1:1:0", 0},
    Call{"AF_INET6", SYS_socket, "10:1:0", 0},
    Call{"AF_INET tcp", SYS_socket, "2:1:6", 0},
    Call{"AF_INET6 udp, closed on exec", SYS_socket, "10:0x80002:17", 0},
    Call{"AF_INET sctp", SYS_socket, "2:1:132", EPROTONOSUPPORT},
    Call{"AF_INET6 sctp", SYS_socket, "10:5:132", EPROTONOSUPPORT},
    Call{"AF_INET6 sctp by its type", SYS_socket, "10:5:0", ESOCKTNOSUPPORT},
    Call{"AF_INET dccp", SYS_socket, "2:6:33", EPROTONOSUPPORT},
    Call{"AF_INET dccp by its type", SYS_socket, "2:6:0", ESOCKTNOSUPPORT},
    Call{"AF_INET l2tp", SYS_socket, "2:2:115", EPROTONOSUPPORT},
    Call{"AF_INET udplite", SYS_socket, "2:2:136", EPROTONOSUPPORT},
    Call{"AF_INET6 udplite with high bits", SYS_socket, "0x10000000a:2:0x100000088", EPROTONOSUPPORT},
    Call{"AF_INET as AF_PACKET", SYS_socket, "2:10:0", ESOCKTNOSUPPORT},
    Call{"mknod of a device", SYS_mknod, "@:0x2000:0x103", ENOENT},  // the path is empty; the next test makes one in earnest
    Call{"a call of the future", 999, "0:0:0", ENOSYS},
};

TEST_F(LocalEscape, EveryDeniedCallAnswersItsErrno) {
  const auto sandbox = acquire(spec_with());
  std::vector<std::string> words{"calls"};
  for (const Call& call : kCalls) words.push_back(std::to_string(call.number) + ":" + call.arguments);
  const std::vector<std::string> answers = split(attack(*sandbox, words).out.text(), '\n');
  ASSERT_GE(answers.size(), kCalls.size());
  for (std::size_t i = 0; i < kCalls.size(); ++i) EXPECT_EQ(answers[i], std::to_string(kCalls.at(i).expected)) << kCalls.at(i).name;
}

TEST_F(LocalEscape, NoProtocolButTheUsualOnesOfTheInternetIsThere) {
  const auto sandbox = acquire(spec_with());
  constexpr int kAsked = 600;  // the kernel itself knows none above 262
  for (const auto& [family, icmp] : {std::pair<int, int>{AF_INET, IPPROTO_ICMP}, std::pair<int, int>{AF_INET6, IPPROTO_ICMPV6}}) {
    // Raw sockets: the kernel has one for every number and refuses it to who has no right to it, without loading anything.
    std::vector<std::string> words{"calls"};
    for (int protocol = 1; protocol < kAsked; ++protocol)
      words.push_back(fmt::format("{}:{}:{}:{}", SYS_socket, family, static_cast<int>(SOCK_RAW), protocol));
    const std::vector<std::string> answers = split(attack(*sandbox, words).out.text(), '\n');
    ASSERT_GE(answers.size(), static_cast<std::size_t>(kAsked) - 1);
    for (int protocol = 1; protocol < kAsked; ++protocol) {
      const bool usual = protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == icmp || protocol == IPPROTO_MPTCP;
      EXPECT_EQ(answers.at(static_cast<std::size_t>(protocol) - 1) != std::to_string(EPROTONOSUPPORT), usual) << family << " " << protocol;
    }
  }
}

TEST_F(LocalEscape, CallsThroughAnotherDoorAreFatal) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the other doors are those of x86-64";
#endif
  const auto sandbox = acquire(spec_with());
  // A kernel without the i386 door faults there, sandbox or not: then nothing passes that seccomp would have to stop.
  const Exit outside =
      run_command({.argv = {test::built_program("sandbox-attacker"), "i386"}, .env = {}, .cwd = "/", .fds = {}}, "", 100, soon()).exit;
  ASSERT_TRUE(outside.ok() || outside.signal == SIGSEGV);
  EXPECT_EQ(attack(*sandbox, {"i386"}).exit.signal, outside.ok() ? SIGSYS : SIGSEGV);
  EXPECT_EQ(attack(*sandbox, {"calls", "0x40000027"}).exit.signal, SIGSYS) << "x32";
}

TEST_F(LocalEscape, ThereIsNothingToGainPrivilegesWith) {
  const auto sandbox = acquire();
  EXPECT_EQ(output(*sandbox, "grep ^Cap /proc/self/status | cut -f2 | sort -u"), "0000000000000000\n");
  EXPECT_EQ(output(*sandbox, "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t '"), "NoNewPrivs:1\nSeccomp:2\n");
}

TEST_F(LocalEscape, SetuidProgramsStayWhoTheyAre) {
  const auto sandbox = acquire();
  EXPECT_EQ(output(*sandbox, "cp /usr/bin/id /tmp/id; chmod 6755 /tmp/id; /tmp/id -u"), "1000\n");
  EXPECT_THAT(output(*sandbox, "for f in /usr/bin/su /usr/bin/passwd; do [ -e $f ] && $f -c id </dev/null 2>&1; done; true"),
              Not(HasSubstr("uid=0")));
  EXPECT_EQ(output(*sandbox, "grep -vc nosuid /proc/self/mounts || true"), "0\n");
}

TEST_F(LocalEscape, TheRootIsReadOnlyAndHoldsNothingOfTheHost) {
  const auto sandbox = acquire();
  EXPECT_EQ(output(*sandbox, "ls -A / | grep -vE '^lib(x?32)$' | tr '\\n' ' '"),
            "bin dev etc home lib lib64 proc run sbin tmp usr var workspace ");
  EXPECT_EQ(
      output(*sandbox, "for d in / /usr /etc /usr/bin /home /var /run /dev /proc; do touch $d/x 2>/dev/null && echo wrote $d; done; true"),
      "");
  EXPECT_EQ(output(*sandbox, "ls -A /home /home/agent /run /workspace | grep -v : | tr -d '\\n'"), "agent");
  EXPECT_EQ(output(*sandbox, "cat /etc/shadow /etc/machine-id /etc/gitconfig 2>/dev/null; cat /etc/hostname"), "sandbox\n");
  EXPECT_EQ(output(*sandbox, "cat /etc/passwd | cut -d: -f1 | tr '\\n' ' '"), "root agent nobody ");
}

TEST_F(LocalEscape, NoPathThroughProcLeadsOut) {
  const auto sandbox = acquire();
  EXPECT_EQ(output(*sandbox, "ls -A /proc/self/root/ | grep -vE '^lib(x?32)$' | tr '\\n' ' '"),
            "bin dev etc home lib lib64 proc run sbin tmp usr var workspace ");
  for (const char* path : {"/proc/1/root", "/proc/1/exe", "/proc/1/environ", "/proc/1/mem", "/proc/1/fd", "/proc/1/cwd", "/proc/1/maps"}) {
    EXPECT_EQ(output(*sandbox, std::string("ls ") + path + "/ 2>/dev/null; cat " + path + " 2>/dev/null; readlink " + path + "; true"), "")
        << path;
  }
  // Neither pid 1 nor the keepers are to be seen at all: only the shell and its children.
  EXPECT_EQ(
      output(*sandbox,
             "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -c [f]orge-sandbox; done | sort -u | grep -v 0; true"),
      "");
}

TEST_F(LocalEscape, TheKernelsSwitchesAreReadOnlyAndItsSecretsMasked) {
  const auto sandbox = acquire();
  EXPECT_EQ(
      output(*sandbox,
             "for f in /proc/sys/kernel/core_pattern /proc/sys/net/ipv4/ip_forward /proc/sys/user/max_user_namespaces /proc/sysrq-trigger "
             "/proc/sys/kernel/hostname; do (echo 1 > $f) 2>/dev/null && echo wrote $f; done; true"),
      "");
  EXPECT_EQ(
      output(*sandbox, "for f in kcore keys timer_list sched_debug; do [ -e /proc/$f ] && head -c 10 /proc/$f 2>/dev/null; done; true"),
      "");
  EXPECT_EQ(output(*sandbox, "ls -A /proc/acpi /proc/scsi 2>/dev/null | grep -v : | tr -d '\\n'"), "");
  EXPECT_EQ(output(*sandbox, "ls /sys 2>/dev/null; true"), "");
}

TEST_F(LocalEscape, OnlyTheHarmlessDevicesExist) {
  const auto sandbox = acquire();
  EXPECT_EQ(output(*sandbox, "ls /dev | tr '\\n' ' '"), "fd full null ptmx pts random shm stderr stdin stdout urandom zero ");
  EXPECT_EQ(output(*sandbox,
                   "mknod /tmp/d c 1 3 2>/dev/null && cat /tmp/d; mknod /workspace/d b 7 0 2>/dev/null; ls /tmp /workspace | grep -v : | "
                   "tr -d '\\n'"),
            "");
  EXPECT_EQ(output(*sandbox, "python3 -c 'import pty,os; m,s=pty.openpty(); print(os.ttyname(s))'"), "/dev/pts/0\n");
}

TEST_F(LocalEscape, TheNetworkIsEmpty) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  const auto sandbox = acquire(spec_with());
  EXPECT_EQ(attack(*sandbox, {"tcp", "127.0.0.1", std::to_string(ntohs(address.sin_port))}).out.text(),
            std::to_string(ECONNREFUSED) + "\n");
  for (const char* outside : {"169.254.169.254", "10.0.0.1", "1.1.1.1", "127.0.0.1"}) {
    const std::string answer = attack(*sandbox, {"tcp", outside, "80"}).out.text();
    EXPECT_TRUE(answer == std::to_string(ENETUNREACH) + "\n" || answer == std::to_string(ECONNREFUSED) + "\n") << outside << " " << answer;
  }
  EXPECT_EQ(output(*sandbox, "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' \\n'"), "lo");
}

TEST_F(LocalEscape, AbstractSocketsOfTheHostAreOutOfReach) {
  const std::string name = "forge-test-" + std::to_string(::getpid());
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(&address.sun_path[1], name.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const auto sandbox = acquire(spec_with());
  EXPECT_EQ(attack(*sandbox, {"abstract", name}).out.text(), std::to_string(ECONNREFUSED) + "\n");
}

TEST_F(LocalEscape, NeighboursNeitherSeeNorSignalEachOther) {
  const auto one = acquire();
  const auto two = acquire(spec_with());
  ASSERT_EQ(
      output(*one,
             "sleep infinity >/dev/null 2>&1 & echo secret > /tmp/secret; until [ $(cat /proc/$!/comm) = sleep ]; do :; done; echo up"),
      "up\n");
  EXPECT_EQ(output(*two, "ps -e -o comm= | grep -c sleep || true"), "0\n");
  EXPECT_EQ(output(*two, "ls /tmp"), "");
  attack(*two, {"kill-everybody"});
  EXPECT_EQ(output(*one, "ps -e -o comm= | grep -c sleep"), "1\n");
}

TEST_F(LocalEscape, AnIdThatWasUsedBeforeFindsNothingOfItsPredecessor) {
  output(*acquire(), "echo secret > /tmp/a; echo secret > /dev/shm/b; echo secret > ~/c");
  EXPECT_EQ(output(*acquire(), "ls -A /tmp /dev/shm /home/agent /workspace | grep -v : | tr -d '\\n'"), "");
}

TEST_F(LocalEscape, NothingOfTheServicesEnvironmentOrDescriptorsIsInherited) {
  ASSERT_EQ(::setenv("FORGE_TEST_SECRET", "leak", 1), 0);
  const UniqueFd open_file(::open("/etc/passwd", O_RDONLY));  // on purpose without close-on-exec
  const auto sandbox = acquire();
  EXPECT_EQ(output(*sandbox, "env | grep -c SECRET || true"), "0\n");
  EXPECT_EQ(sandbox->run({.argv = {"ls", "/proc/self/fd"}}, soon()).out.text(), "0\n1\n2\n3\n");
  ::unsetenv("FORGE_TEST_SECRET");
}

TEST_F(LocalEscape, ToolsOfAnAgentRun) {
  const auto sandbox = acquire();
  EXPECT_EQ(output(*sandbox, "python3 -c 'import json, ssl, sqlite3, threading, multiprocessing; print(6 * 7)'"), "42\n");
  EXPECT_EQ(output(*sandbox,
                   "git init -q r && cd r && git config user.email a@b && git config user.name a && echo x > f && git add f && "
                   "git commit -qm m && git log --format=%s"),
            "m\n");
  EXPECT_EQ(output(*sandbox, "printf '#include <stdio.h>\\nint main(){puts(\"built\");}' > m.c && gcc m.c -o m && ./m"), "built\n");
  if (shell(*sandbox, "command -v node").exit.ok()) {
    EXPECT_EQ(output(*sandbox, "node -e 'new Promise(r=>setTimeout(r,1)).then(()=>console.log(require(\"os\").userInfo().username))'"),
              "agent\n");
    EXPECT_EQ(output(*sandbox, "npm --version >/dev/null 2>&1 && npm init -y >/dev/null 2>&1 && test -f package.json && echo made"),
              "made\n");
  }
}

}  // namespace
}  // namespace forge::sandbox
