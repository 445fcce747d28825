#include "orchestrator/sandbox/local/launcher/mounts.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/sandbox/local/launcher/step.h"
#include "orchestrator/sandbox/local/wire.h"

// <sys/mount.h> of glibc 2.36 clashes with <linux/mount.h>.
extern "C" {
int mount(const char* source, const char* target, const char* type, unsigned long flags, const void* data) noexcept;
int umount2(const char* target, int flags) noexcept;
}

namespace forge::sandbox::local::launcher {
namespace {

using Kind = Mount::Kind;

constexpr unsigned long kPrivateAll = (1UL << 18) | (1UL << 14);  // MS_PRIVATE | MS_REC
constexpr int kDetach = 2;                                        // MNT_DETACH
constexpr unsigned kInert = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

/// What open_tree gives is detached: nobody can see or change it until it is put somewhere.
UniqueFd clone_mount(int directory, const char* path, unsigned flags) {
  return UniqueFd(static_cast<int>(must(::syscall(SYS_open_tree, directory, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags),
                                        std::string("cloning the mount of ") + path)));
}

void set_attributes(int mount_fd, unsigned attributes, unsigned flags, std::string_view what) {
  mount_attr attr{};
  attr.attr_set = attributes;
  must(::syscall(SYS_mount_setattr, mount_fd, "", AT_EMPTY_PATH | flags, &attr, sizeof attr),
       std::string("restricting the mount at ").append(what));
}

/// A new file system by the new mount API: options in order, then a detached mount.
class NewMount {
 public:
  explicit NewMount(const char* type)
      : type_(type),
        context_(static_cast<int>(must(::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC), std::string("opening file system ") + type))) {}
  NewMount& set(const char* key, const std::string& value) {
    must(::syscall(SYS_fsconfig, context_.get(), FSCONFIG_SET_STRING, key, value.c_str(), 0), std::string(type_) + " option " + key);
    return *this;
  }
  NewMount& flag(const char* key) {
    must(::syscall(SYS_fsconfig, context_.get(), FSCONFIG_SET_FLAG, key, nullptr, 0), std::string(type_) + " option " + key);
    return *this;
  }
  UniqueFd mount(unsigned attributes) {
    must(::syscall(SYS_fsconfig, context_.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), std::string("making file system ") + type_);
    return UniqueFd(
        static_cast<int>(must(::syscall(SYS_fsmount, context_.get(), FSMOUNT_CLOEXEC, attributes), std::string("mounting ") + type_)));
  }

 private:
  const char* type_;
  UniqueFd context_;
};

/// By two descriptors: no path is walked a second time between the look and the mount.
void attach(int mount_fd, int target_fd, std::string_view what) {
  must(::syscall(SYS_move_mount, mount_fd, "", target_fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
       std::string("mounting at ").append(what));
}

/// Where the tree is put together: one memory file system holds the bare root and everything writable, so that one cap counts for all.
/// It lies over the host's /usr (every source is open by now) and goes away with the host's root.
class Site {
 public:
  explicit Site(const Plan& plan) {
    const UniqueFd scratch = NewMount("tmpfs")
                                 .set("size", std::to_string(plan.scratch_bytes))
                                 .set("nr_inodes", std::to_string(plan.scratch_inodes))
                                 .set("mode", "0755")
                                 .mount(kInert);
    const UniqueFd over(static_cast<int>(must(::open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC), "opening /usr")));
    attach(scratch.get(), over.get(), "the site");
    site_ = UniqueFd(static_cast<int>(must(::open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC), "opening the site")));
    for (const char* name : {"root", "data", "lower", "empty"}) must(::mkdirat(site_.get(), name, 0755), "making the site");
    // The bare root is written through this descriptor, while / is already a mount over it that will be read-only.
    bare_ = UniqueFd(static_cast<int>(must(::openat(site_.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC), "opening the bare root")));
    root_ = clone_mount(site_.get(), "root", 0);
    attach(root_.get(), bare_.get(), "the new root");
  }

  int site() const { return site_.get(); }
  int root() const { return root_.get(); }

  /// Makes the directories above `path` (absolute inside) in the bare root; returns `path` without its slash.
  std::string make_parents(const std::string& path) const {
    std::string relative = path.substr(1);
    for (std::size_t at = relative.find('/'); at != std::string::npos; at = relative.find('/', at + 1))
      make_directory(relative.substr(0, at));
    return relative;
  }
  void make_directory(const std::string& relative) const {
    if (::mkdirat(bare_.get(), relative.c_str(), 0755) < 0 && errno != EEXIST) throw StepFailed("making /" + relative, errno);
  }
  void make_link(const std::string& relative, const std::string& to) const {
    must(::symlinkat(to.c_str(), bare_.get(), relative.c_str()), "linking /" + relative);
  }
  /// An empty directory or file in the bare root to mount on.
  void make_point(const std::string& path, bool directory) const {
    const std::string relative = make_parents(path);
    if (directory) return make_directory(relative);
    must(::mknodat(bare_.get(), relative.c_str(), S_IFREG | 0444, 0), "making /" + relative);
  }
  /// `path` as it is seen inside by now; nothing when it does not exist.
  std::optional<UniqueFd> find(const std::string& path) const {
    const std::string relative = path.substr(1);
    if (::faccessat(root_.get(), relative.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) < 0) return {};
    return open_beneath(root_.get(), relative, O_PATH);
  }
  void put(const UniqueFd& mount_fd, const std::string& path) const {
    const std::optional<UniqueFd> target = find(path);
    if (!target) throw StepFailed("mounting at " + path, ENOENT);
    attach(mount_fd.get(), target->get(), path);
  }
  /// A writable directory of the capped file system, as a detached mount.
  UniqueFd scratch(unsigned mode) {
    const std::string name = "data/" + std::to_string(++directories_);
    must(::mkdirat(site_.get(), name.c_str(), 0755), "making a scratch directory");
    must(::fchmodat(site_.get(), name.c_str(), mode, 0), "making a scratch directory");
    UniqueFd mount_fd = clone_mount(site_.get(), name.c_str(), 0);
    set_attributes(mount_fd.get(), kInert, 0, name);
    return mount_fd;
  }

 private:
  UniqueFd site_;
  UniqueFd bare_;  // the root's directory itself, writable, under the mount that becomes /
  UniqueFd root_;
  int directories_ = 0;
};

bool is_directory(int fd) {
  struct stat status {};
  must(::fstat(fd, &status), "looking at a source");
  return S_ISDIR(status.st_mode);
}

void put_bind(const Site& site, const Mount& mount, const UniqueFd& source) {
  const bool device = mount.kind == Kind::device;
  const unsigned access = mount.read_only ? MOUNT_ATTR_RDONLY : 0U;
  set_attributes(source.get(), device ? MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC : kInert | access, AT_RECURSIVE, mount.target);
  // Below a mount that was put before, the directory exists already; making it in the bare root would be of no use.
  std::optional<UniqueFd> target = site.find(mount.target);
  if (!target) {
    site.make_point(mount.target, is_directory(source.get()));
    return site.put(source, mount.target);
  }
  attach(source.get(), target->get(), mount.target);
}

void put_read_only(const Site& site, const Mount& mount) {
  const std::optional<UniqueFd> there = site.find(mount.target);
  if (!there) return;
  const UniqueFd copy(static_cast<int>(
      must(::syscall(SYS_open_tree, there->get(), "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH), "cloning " + mount.target)));
  set_attributes(copy.get(), MOUNT_ATTR_RDONLY | kInert | MOUNT_ATTR_NOEXEC, 0, mount.target);
  attach(copy.get(), there->get(), mount.target);
}

void put_mask(const Site& site, const Mount& mount) {
  const std::optional<UniqueFd> there = site.find(mount.target);
  if (!there) return;
  // The sandbox's own null device, an empty file to whoever reads it, or an empty directory.
  const bool directory = is_directory(there->get());
  const UniqueFd cover = directory ? clone_mount(site.site(), "empty", 0) : clone_mount(site.root(), "dev/null", 0);
  set_attributes(cover.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0, mount.target);
  attach(cover.get(), there->get(), mount.target);
}

/// The lower layer is read-only by nature; redirect_dir and metacopy off, so that every file of the upper layer is complete.
UniqueFd put_overlay(Site& site, const Mount& mount, const UniqueFd& tree) {
  const UniqueFd point(static_cast<int>(must(::openat(site.site(), "lower", O_PATH | O_DIRECTORY | O_CLOEXEC), "opening the lower layer")));
  attach(tree.get(), point.get(), "the lower layer");
  must(::mkdirat(site.site(), "data/upper", 0755), "making the upper layer");
  must(::mkdirat(site.site(), "data/work", 0755), "making the upper layer");
  must(::fchdir(site.site()), "entering the site");
  const UniqueFd overlay = NewMount("overlay")
                               .set("lowerdir", "lower")
                               .set("upperdir", "data/upper")
                               .set("workdir", "data/work")
                               .set("redirect_dir", "nofollow")
                               .set("metacopy", "off")
                               .flag("userxattr")
                               .mount(kInert);
  site.make_point(mount.target, true);
  site.put(overlay, mount.target);
  return UniqueFd(static_cast<int>(must(::openat(site.site(), "data/upper", O_PATH | O_DIRECTORY | O_CLOEXEC), "opening the upper layer")));
}

void put_fresh(const Site& site, const Mount& mount, const UniqueFd& mount_fd) {
  site.make_point(mount.target, true);
  site.put(mount_fd, mount.target);
}

// hidepid: a process that one may not trace is not even listed, and nobody inside may trace pid 1 or a keeper.
UniqueFd new_proc() { return NewMount("proc").set("hidepid", "invisible").mount(kInert | MOUNT_ATTR_NOEXEC); }
UniqueFd new_terminals(std::uint64_t most) {
  return NewMount("devpts")
      .set("ptmxmode", "0666")
      .set("mode", "620")
      .set("max", std::to_string(most))
      .mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

/// A limit of the outer user namespace, which is ours as long as we are its root: it holds for the inner one and all that lives there.
/// Written through our own /proc, whatever the host has made of its.
void limit_in_namespace(const UniqueFd& proc, const char* file, std::uint64_t most) {
  const UniqueFd control(::openat(proc.get(), file, O_WRONLY | O_CLOEXEC));
  if (!control && errno == ENOENT) return;  // a kernel without the facility: there is nothing to limit
  must(control.get(), std::string("opening ") + file);
  const std::string text = std::to_string(most);
  must(::write(control.get(), text.data(), text.size()), std::string("limiting ") + file);
}

UniqueFd new_limited_proc(const Shares& shares) {
  UniqueFd proc = new_proc();
  limit_in_namespace(proc, "sys/user/max_inotify_instances", shares.inotify_instances);
  limit_in_namespace(proc, "sys/user/max_inotify_watches", shares.inotify_watches);
  return proc;
}

void leave_host(const Site& site) {
  set_attributes(site.root(), MOUNT_ATTR_RDONLY | kInert, 0, "/");
  must(::fchdir(site.root()), "entering the new root");
  // The old root is stacked on the new one and taken off: no directory for it is needed in the tree.
  must(::syscall(SYS_pivot_root, ".", "."), "changing the root");
  must(::umount2(".", kDetach), "letting go of the host's root");
  must(::chdir("/"), "entering the new root");
}

}  // namespace

std::vector<UniqueFd> open_sources(const Plan& plan) {
  // First of all: nothing that we mount may reach the host, and nothing that the host mounts later may reach us.
  must(::mount(nullptr, "/", nullptr, kPrivateAll, nullptr), "making mounts private");
  std::vector<UniqueFd> sources;
  sources.reserve(plan.mounts.size());
  for (const Mount& mount : plan.mounts) {
    const bool bound = mount.kind == Kind::bind || mount.kind == Kind::device;
    sources.push_back(bound ? clone_mount(AT_FDCWD, mount.source.c_str(), AT_RECURSIVE) : UniqueFd());
  }
  return sources;
}

UniqueFd clone_tree(const std::string& directory) { return clone_mount(AT_FDCWD, directory.c_str(), 0); }
UniqueFd clone_whole_tree(const std::string& directory) { return clone_mount(AT_FDCWD, directory.c_str(), AT_RECURSIVE); }

void map_owner(int tree, int user_namespace) {
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY | kInert;
  attr.userns_fd = static_cast<unsigned>(user_namespace);
  must(::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr), kMappingTree);
}

UniqueFd enter_tree(const Plan& plan, std::vector<UniqueFd> sources, UniqueFd tree) {
  Site site(plan);
  UniqueFd upper;
  for (std::size_t i = 0; i < plan.mounts.size(); ++i) {
    const Mount& mount = plan.mounts[i];
    switch (mount.kind) {
      case Kind::directory: site.make_point(mount.target, true); break;
      case Kind::link: site.make_link(site.make_parents(mount.target), mount.source); break;
      case Kind::bind:
      case Kind::device: put_bind(site, mount, sources[i]); break;
      case Kind::scratch: put_fresh(site, mount, site.scratch(mount.mode)); break;
      case Kind::overlay: upper = put_overlay(site, mount, tree); break;
      case Kind::proc: put_fresh(site, mount, new_limited_proc(plan.shares)); break;
      case Kind::terminals: put_fresh(site, mount, new_terminals(plan.shares.terminals)); break;
      case Kind::read_only: put_read_only(site, mount); break;
      case Kind::mask: put_mask(site, mount); break;
    }
  }
  leave_host(site);
  return upper;
}

}  // namespace forge::sandbox::local::launcher
