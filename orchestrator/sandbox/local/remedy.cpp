#include "orchestrator/sandbox/local/remedy.h"

#include <array>
#include <cerrno>

namespace forge::sandbox::local {
namespace {

struct Remedy {
  std::string_view capability;
  std::string_view text;
};

constexpr std::string_view kNamespaces =
    "let unprivileged users make user namespaces: sysctl user.max_user_namespaces=10000, and where they exist "
    "kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0; in a container start it privileged";
constexpr std::string_view kCgroups =
    "run Forge as root, or give it cgroups of its own: systemd-run --user --scope -p Delegate=yes forge ..., or on cgroup v1 make a "
    "directory "
    "in each of memory, pids and cpu, chown it to this user and start Forge in it; sandbox.policy = degraded runs without";

constexpr std::array<Remedy, 14> kRemedies{{
    {"user", kNamespaces},
    {"mount", kNamespaces},
    {"pid", kNamespaces},
    {"network", kNamespaces},
    {"ipc", kNamespaces},
    {"uts", kNamespaces},
    {"cgroup", kNamespaces},
    {"mount_calls", "use kernel 5.12 or newer"},
    {"overlay", "use kernel 6.6 or newer: older ones keep no marks of overlayfs on a memory file system for a plain user"},
    {"proc", "in a container the host's /proc is partly hidden: start it with --security-opt systempaths=unconfined, or privileged"},
    {"terminals", kNamespaces},
    {"seccomp", "use a kernel built with CONFIG_SECCOMP_FILTER"},
    {"id_map", "keep the data directory on ext4, xfs, btrfs or tmpfs; until then work trees are copied"},
    {"limits", kCgroups},
}};

}  // namespace

std::string remedy_for(std::string_view capability) {
  for (const Remedy& remedy : kRemedies) {
    if (remedy.capability == capability) return std::string(remedy.text);
  }
  return {};
}

std::string remedy_for_step(std::string_view step, int error) {
  std::string_view capability;
  if (step == "making the namespaces" || step.ends_with("uid_map") || step.ends_with("setgroups")) capability = "user";
  if (step == "mounting proc" || (step == "making file system proc" && error == EPERM)) capability = "proc";
  if (step.find("overlay") != std::string_view::npos) capability = "overlay";
  if (step == "joining a cgroup") capability = "limits";
  if (step == "mapping the owner of the work tree") capability = "id_map";
  const std::string text = remedy_for(capability);
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace forge::sandbox::local
