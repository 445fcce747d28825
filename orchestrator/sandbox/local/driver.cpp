#include "orchestrator/sandbox/local/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "orchestrator/base/error.h"
#include "orchestrator/base/ids.h"
#include "orchestrator/base/text.h"
#include "orchestrator/sandbox/local/cgroup_pool.h"
#include "orchestrator/sandbox/local/copied_tree.h"
#include "orchestrator/sandbox/local/etc.h"
#include "orchestrator/sandbox/local/identity_pool.h"
#include "orchestrator/sandbox/local/instance.h"
#include "orchestrator/sandbox/local/launch.h"
#include "orchestrator/sandbox/local/probe.h"
#include "orchestrator/sandbox/local/sandbox.h"
#include "orchestrator/sandbox/local/seccomp.h"

namespace forge::sandbox::local {
namespace {

namespace fs = std::filesystem;

// Shared by every instance of the machine, whatever its data directory: ids are the machine's.
constexpr const char* kIdentityLocks = "/run/forge/uids";
constexpr auto kSweepTime = std::chrono::seconds(30);

std::string launcher_of(const DriverOptions& options) {
  if (!options.launcher.empty()) return options.launcher;
  std::error_code error;
  return (fs::read_symlink("/proc/self/exe", error).parent_path() / "forge-sandbox").string();
}

/// A directory would show what lies below it, a device would be a door.
void need_regular(const ReadOnlyFile& file) {
  std::error_code error;
  if (fs::is_regular_file(fs::symlink_status(file.source, error))) return;
  throw public_failure(ErrorCode::sandbox_config,
                       "'" + file.source + "' is not a regular file, so that it cannot be shown at " + file.target);
}

/// How / looks beside /usr on this host: merged directories are links, others are bound.
std::vector<std::pair<std::string, std::string>> root_entries() {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(name, error);
    if (fs::is_symlink(status)) entries.emplace_back(name, fs::read_symlink(name, error).string());
    if (fs::is_directory(status)) entries.emplace_back(name, "");
  }
  return entries;
}

std::string now_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return new_id_text(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

/// The instance's own directories in the cgroup hierarchies: where groups are made, and, when limits cannot be set, why.
class Limiting {
 public:
  Limiting(const Instance& instance, const CgroupLayout& found) : layout_(found), why_not_(found.complete() ? "" : found.why) {
    if (found.kind == CgroupKind::none) return;
    layout_ = instance_layout(found, instance.id());
    instance.record_cgroups(parents_of(layout_));
    try {
      make_instance_groups(found, instance.id());
      if (!found.complete()) return;
      Cgroup::make(layout_, "probe", {.memory_bytes = 64 << 20, .pids = 64, .cpu_millis = 1000})->remove();
    } catch (const Error& e) {
      why_not_ = e.what();
    }
  }
  ~Limiting() { remove_instance_groups(parents_of(layout_), Stop::after(kSweepTime)); }
  Limiting(const Limiting&) = delete;
  Limiting& operator=(const Limiting&) = delete;

  const CgroupLayout& layout() const { return layout_; }
  const std::string& why_not() const { return why_not_; }

 private:
  CgroupLayout layout_;
  std::string why_not_;
};

/// Its sandboxes must be gone before it is.
class LocalDriver final : public SandboxDriver {
 public:
  explicit LocalDriver(const DriverOptions& options)
      : options_(options),
        launcher_(launcher_of(options)),
        swept_(sweep_dead_instances(options.run_directory, options.log, Stop::after(kSweepTime))),
        instance_(options.run_directory),
        limiting_(instance_, find_layout(read_cgroup_facts(), options.cgroup_parent)),
        groups_(limiting_.layout(), options.log),
        identities_(kIdentityLocks),
        etc_(instance_.directory()),
        root_entries_(root_entries()),
        filters_(sealed_file("filters", compile_filters())) {}
  ~LocalDriver() override = default;

  std::string_view name() const override { return "local"; }

  CapabilityReport probe(const Stop& stop) override {
    const std::vector<Finding> findings = run_probe(launcher_, instance_.directory(), stop);
    CapabilityReport report = make_report(findings, limiting_.layout(), limiting_.why_not(), identities_.pooled(), options_.policy);
    *report_.lock() = report;
    return report;
  }

  std::unique_ptr<Sandbox> acquire(const SandboxSpec& spec, const Stop& stop) override;

 private:
  bool limited() const { return limiting_.why_not().empty(); }
  void need_usable(const Stop& stop);
  HostFacts facts(const Identity& identity);
  void describe(Parts& parts, const SandboxSpec& spec) const;
  Launched launch_with_tree(Parts& parts, const Stop& stop);

  DriverOptions options_;
  std::string launcher_;
  int swept_;
  Instance instance_;
  Limiting limiting_;
  CgroupPool groups_;
  IdentityPool identities_;
  EtcDirectory etc_;
  std::vector<std::pair<std::string, std::string>> root_entries_;
  UniqueFd filters_;
  Guarded<std::optional<CapabilityReport>> report_;
};

/// The probe runs before the first sandbox and then no more: a missing layer is an answer with its remedy, not a failed system call.
void LocalDriver::need_usable(const Stop& stop) {
  std::optional<CapabilityReport> report = *report_.lock();
  if (!report) report = probe(stop);
  if (report->usable) return;
  throw public_failure(ErrorCode::sandbox_unavailable, "this machine cannot enforce the sandbox; " + describe_missing(*report));
}

HostFacts LocalDriver::facts(const Identity& identity) {
  const EtcDirectory::Current etc = etc_.current();
  return {.identity = identity,
          .etc_directory = etc.path,
          .etc_bound = etc.bound,
          .root_entries = root_entries_,
          .memory_limit = limited(),
          .pids_limit = limited(),
          .cpu_limit = limited()};
}

void LocalDriver::describe(Parts& parts, const SandboxSpec& spec) const {
  const SandboxLimits& limits = spec.contents.limits;
  const std::string by = " (cgroup " + std::string(name_of(limiting_.layout().kind)) + ")";
  const std::array<std::string, 3> capped{"memory " + human_bytes(static_cast<std::size_t>(limits.memory_bytes)) + ", no swap",
                                          "processes " + std::to_string(limits.pids),
                                          "cpu " + std::to_string(limits.cpu_millis) + " millicores"};
  if (limited()) {
    for (const std::string& one : capped) parts.enforced.push_back(one + by);
  } else {
    parts.unenforced.push_back(fmt::format("{}: {}", fmt::join(capped, "; "), limiting_.why_not()));  // all for one reason
  }
  parts.enforced.push_back("disk " + human_bytes(static_cast<std::size_t>(parts.plan.scratch_bytes)) + ", " +
                           std::to_string(limits.upper_inodes) + " files");
  parts.enforced.push_back("open files " + std::to_string(limits.open_files));
  parts.enforced.push_back("network none");
  parts.enforced.push_back("namespaces user, mount, pid, network, ipc, uts, cgroup");
  parts.enforced.push_back("seccomp");
  parts.enforced.push_back("no capabilities, no_new_privs");
  parts.enforced.push_back("lifetime " + human_duration_ms(parts.plan.lifetime_ms));
  parts.enforced.push_back(parts.plan.identity.pooled ? "user id of its own" : "user id of Forge");
}

/// Where the file system of the tree shows no mapped owners, the job gets a copy that is its own, and the sandbox says so.
Launched LocalDriver::launch_with_tree(Parts& parts, const Stop& stop) {
  try {
    return launch(launcher_, parts.plan, parts.holding->group(), filters_.get(), stop);
  } catch (const Error& e) {
    if (e.field() != "tree") throw;
  }
  const std::string copy = instance_.directory() + "/tree-" + parts.id;
  parts.holding->take_tree(copy);
  copy_tree(parts.plan.tree, copy, parts.plan.identity, stop);
  parts.plan.tree = copy;
  parts.plan.map_tree = false;
  parts.enforced.push_back("work tree copied (its file system cannot show it as the job's own)");
  return launch(launcher_, parts.plan, parts.holding->group(), filters_.get(), stop);
}

std::unique_ptr<Sandbox> LocalDriver::acquire(const SandboxSpec& spec, const Stop& stop) {
  stop.check();
  need_usable(stop);
  for (const ReadOnlyFile& file : spec.files) need_regular(file);
  return doing("making a sandbox for " + spec.scope, [&] {
    // Before everything that can fail, and destroyed after it: launch() ends its launcher, and with it whatever ran, before it throws.
    Parts parts{.holding = std::make_unique<Holding>(groups_, identities_, options_.log)};
    parts.id = now_id();
    parts.plan = make_plan(spec, facts(parts.holding->identity()));
    if (limited()) parts.holding->take_group(parts.plan.group);
    describe(parts, spec);
    Launched launched = launch_with_tree(parts, stop);
    return make_sandbox(std::move(parts), std::move(launched), options_.log);
  });
}

}  // namespace

std::unique_ptr<SandboxDriver> make_local_driver(const DriverOptions& options) { return std::make_unique<LocalDriver>(options); }

}  // namespace forge::sandbox::local
