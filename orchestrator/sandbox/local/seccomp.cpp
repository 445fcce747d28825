#include "orchestrator/sandbox/local/seccomp.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/sandbox/local/seccomp_calls.h"

namespace forge::sandbox::local {
namespace {

constexpr int kFamilies = 64;                // the kernel knows 46; above its own maximum it refuses itself
constexpr int kNetlinkProtocols = 32;        // MAX_LINKS
constexpr std::uint64_t kSocketTypes = 0xf;  // SOCK_TYPE_MASK: what is above are flags
constexpr std::uint64_t kCloneNewTime = 0x80;
constexpr std::uint32_t kInt = 0xffffffff;  // the kernel looks at 32 bits of these arguments: so must we (CVE-2019-10063)

Error filter_failure(const std::string& what, int result) {
  return public_failure(ErrorCode::sandbox_unavailable,
                        "the system call filter could not be made (" + what + ", error " + std::to_string(-result) + ")");
}

/// A filter under construction; one per default action.
class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : context_(::seccomp_init(otherwise)) {
    if (!context_) throw filter_failure("seccomp_init", -ENOMEM);
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    // A binary tree over the numbers: the kernel walks the program once per call number when it is installed.
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  }

  void add(std::uint32_t action, const char* call, std::initializer_list<scmp_arg_cmp> arguments = {}) {
    const int number = ::seccomp_syscall_resolve_name(call);
    if (number < 0) return;  // not on this architecture
    const int result = ::seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(arguments.size()), arguments.begin());
    if (result < 0) throw filter_failure(call, result);
  }

  /// The program after its length.
  std::string program() const {
    const UniqueFd file = checked_fd(::memfd_create("filter", MFD_CLOEXEC), "making a memory file");
    const int result = ::seccomp_export_bpf(context_.get(), file.get());
    if (result < 0) throw filter_failure("seccomp_export_bpf", result);
    checked(static_cast<int>(::lseek(file.get(), 0, SEEK_SET)), "rewinding a memory file");
    const std::string bytes = read_all(file.get(), 1 << 20, Stop());
    const auto length = static_cast<std::uint32_t>(bytes.size());
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + bytes;
  }

 private:
  struct Release {
    void operator()(void* context) const { ::seccomp_release(context); }
  };
  std::unique_ptr<void, Release> context_;
};

constexpr scmp_arg_cmp equal_masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

/// All values with the bits of `value` above the lowest `bits`.
struct Block {
  std::uint64_t value = 0;
  unsigned bits = 0;
  std::uint64_t mask(std::uint64_t width) const { return width & ~((1ULL << bits) - 1); }
};

/// The values of `whole` that are not `allowed`, as few blocks: libseccomp knows no "none of these", and takes one comparison per argument.
void add_blocks_without(const std::vector<std::uint64_t>& allowed, Block whole, std::vector<Block>& blocks) {
  const std::uint64_t end = whole.value + (1ULL << whole.bits);
  if (std::none_of(allowed.begin(), allowed.end(), [&](std::uint64_t one) { return whole.value <= one && one < end; })) {
    blocks.push_back(whole);
  } else if (whole.bits > 0) {
    const unsigned half = whole.bits - 1;
    add_blocks_without(allowed, {whole.value, half}, blocks);
    add_blocks_without(allowed, {whole.value + (1ULL << half), half}, blocks);
  }
}

/// Of the internet: everything else is made by kernel modules that the kernel loads for whoever asks. The type says as much as the protocol
/// does: a protocol of 0 takes the first one of its type, and SOCK_PACKET is another family altogether.
void refuse_rare_protocols(Filter& filter, std::uint64_t family, std::uint64_t icmp) {
  std::vector<Block> blocks;
  add_blocks_without({0, IPPROTO_TCP, IPPROTO_UDP, icmp, IPPROTO_MPTCP}, {0, 32}, blocks);
  for (const Block& block : blocks) {
    filter.add(SCMP_ACT_ERRNO(EPROTONOSUPPORT), "socket", {equal_masked(0, kInt, family), equal_masked(2, block.mask(kInt), block.value)});
  }
  for (std::uint64_t type = 0; type <= kSocketTypes; ++type) {
    if (type == SOCK_STREAM || type == SOCK_DGRAM || type == SOCK_RAW) continue;  // raw ones need a right that nobody has inside
    filter.add(SCMP_ACT_ERRNO(ESOCKTNOSUPPORT), "socket", {equal_masked(0, kInt, family), equal_masked(1, kSocketTypes, type)});
  }
}

/// Which calls exist. No arguments but personality's: the kernel can answer most numbers from a bitmap then, without running the program.
std::string calls_filter() {
  Filter filter(SCMP_ACT_ERRNO(ENOSYS));
  for (const char* call : kAllowedCalls) filter.add(SCMP_ACT_ALLOW, call);
  for (const char* call : kDeniedCalls) filter.add(SCMP_ACT_ERRNO(EPERM), call);
  // Plain Linux, 32-bit uname, and the question what it is; no executable data, no fixed addresses.
  for (const std::uint64_t persona : {0x0ULL, 0x8ULL, 0x20000ULL, 0x20008ULL, 0xffffffffULL})
    filter.add(SCMP_ACT_ALLOW, "personality", {{0, SCMP_CMP_EQ, persona, 0}});
  return filter.program();
}

/// Which arguments are refused. A second program, because libseccomp takes no "all but" for the calls of the first; of two answers the
/// kernel takes the stricter one.
std::string arguments_filter() {
  Filter filter(SCMP_ACT_ALLOW);
  const std::initializer_list<std::uint64_t> spaces{CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                                    CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
  for (const std::uint64_t space : spaces) {
    filter.add(SCMP_ACT_ERRNO(EPERM), "clone", {equal_masked(0, space, space)});
    filter.add(SCMP_ACT_ERRNO(EPERM), "unshare", {equal_masked(0, space, space)});
  }
  filter.add(SCMP_ACT_ERRNO(EPERM), "unshare", {equal_masked(0, kCloneNewTime, kCloneNewTime)});
  for (const std::uint64_t request : {TIOCSTI, TIOCLINUX}) filter.add(SCMP_ACT_ERRNO(EPERM), "ioctl", {equal_masked(1, kInt, request)});
  // The limit on core files is 1 and stays it (drop.cpp). Scripts lower it to 0 as a habit: they are told that it went well.
  filter.add(SCMP_ACT_ERRNO(0), "setrlimit", {equal_masked(0, kInt, RLIMIT_CORE)});
  const scmp_arg_cmp sets{2, SCMP_CMP_NE, 0, 0};
  filter.add(SCMP_ACT_ERRNO(0), "prlimit64", {equal_masked(1, kInt, RLIMIT_CORE), sets, {3, SCMP_CMP_EQ, 0, 0}});
  filter.add(SCMP_ACT_ERRNO(EPERM), "prlimit64", {equal_masked(1, kInt, RLIMIT_CORE), sets, {3, SCMP_CMP_NE, 0, 0}});
  for (int family = 0; family < kFamilies; ++family) {
    const auto value = static_cast<std::uint64_t>(family);
    const bool local = family == AF_UNIX;
    const bool usual = local || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
    if (!usual) filter.add(SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", {equal_masked(0, kInt, value)});
    if (!local) filter.add(SCMP_ACT_ERRNO(EAFNOSUPPORT), "socketpair", {equal_masked(0, kInt, value)});
  }
  refuse_rare_protocols(filter, AF_INET, IPPROTO_ICMP);
  refuse_rare_protocols(filter, AF_INET6, IPPROTO_ICMPV6);
  for (int protocol = 1; protocol < kNetlinkProtocols; ++protocol) {
    filter.add(SCMP_ACT_ERRNO(EPROTONOSUPPORT), "socket",
               {equal_masked(0, kInt, AF_NETLINK), equal_masked(2, kInt, static_cast<std::uint64_t>(protocol))});
  }
  return filter.program();
}

}  // namespace

std::string compile_filters() { return calls_filter() + arguments_filter(); }

UniqueFd sealed_file(const char* name, std::string_view content) {
  const UniqueFd file = checked_fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), "making a memory file");
  write_all(file.get(), content, Stop());
  checked(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), "sealing a memory file");
  return checked_fd(::open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDONLY | O_CLOEXEC), "opening a memory file");
}

}  // namespace forge::sandbox::local
