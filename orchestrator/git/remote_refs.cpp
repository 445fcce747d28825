#include "orchestrator/git/remote_refs.h"

#include <algorithm>
#include <map>

#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

constexpr std::string_view kHeads = "refs/heads/";
constexpr std::string_view kTags = "refs/tags/";
constexpr std::string_view kMirrorHeads = "refs/remotes/origin/";
constexpr std::string_view kMirrorNamed = "refs/named/";
// Loose references cost a file each; one file with all of them is read faster and written once.
constexpr std::size_t kPackRefsFrom = 100;

using RefMap = std::map<std::string, std::string>;

RefMap current_refs(git_repository* mirror) {
  RefMap current;
  const auto iterator = receive<ReferenceIterator>("listing references",
                                                   [&](git_reference_iterator** out) { return git_reference_iterator_new(out, mirror); });
  git_reference* raw = nullptr;
  int result = 0;
  while ((result = git_reference_next(&raw, iterator.get())) == 0) {
    const Reference reference(raw);
    const std::string_view name = git_reference_name(reference.get());
    const bool ours = name.starts_with(kMirrorHeads) || name.starts_with(kTags) || name.starts_with(kMirrorNamed);
    if (!ours || git_reference_type(reference.get()) != GIT_REFERENCE_DIRECT) continue;
    current[std::string(name)] = hex_of(*git_reference_target(reference.get()));
  }
  if (result != GIT_ITEROVER) check("listing references", result);
  return current;
}

/// A remote may offer any bytes as a name.
bool valid_name(const std::string& name) {
  int valid = 0;
  return git_reference_name_is_valid(&valid, name.c_str()) == 0 && valid == 1;
}

RefMap wanted_refs(const RemoteRefs& remote) {
  RefMap wanted;
  for (const auto& ref : remote.refs)
    if (valid_name(mirror_ref(ref.name))) wanted[mirror_ref(ref.name)] = ref.id;
  return wanted;
}

void write_ref(git_repository* mirror, const std::string& name, const std::string& id) {
  const git_oid target = oid_of(id);
  receive<Reference>("writing " + name,
                     [&](git_reference** out) { return git_reference_create(out, mirror, name.c_str(), &target, 1, nullptr); });
}

void pack_refs(git_repository* mirror) {
  const auto database = receive<RefDb>("opening references", [&](git_refdb** out) { return git_repository_refdb(out, mirror); });
  check("packing references", git_refdb_compress(database.get()));
}

/// What kRemoteHead says, as text: a reference's name or an id; "" when it is not there.
std::string current_head(git_repository* mirror) {
  git_reference* raw = nullptr;
  const int result = git_reference_lookup(&raw, mirror, kRemoteHead);
  const Reference head(raw);
  if (result == GIT_ENOTFOUND) return "";
  check("reading the remote's HEAD", result);
  const char* name = git_reference_symbolic_target(head.get());
  return name != nullptr ? name : hex_of(*git_reference_target(head.get()));
}

void update_head(git_repository* mirror, const RemoteRefs& remote, const RefMap& wanted) {
  const std::string branch = mirror_ref(remote.head_ref);
  const std::string target = wanted.contains(branch) ? branch : remote.head_id;
  if (current_head(mirror) == target) return;
  if (target.empty()) {  // unborn at the remote
    check("removing the remote's HEAD", git_reference_remove(mirror, kRemoteHead));
  } else if (target == branch) {
    receive<Reference>("writing the remote's HEAD", [&](git_reference** out) {
      return git_reference_symbolic_create(out, mirror, kRemoteHead, branch.c_str(), 1, nullptr);
    });
  } else {
    write_ref(mirror, kRemoteHead, target);
  }
}

}  // namespace

bool is_kept(std::string_view name, std::string_view named) {
  if (name.ends_with("^{}")) return false;
  return name.starts_with(kHeads) || name.starts_with(kTags) || (!named.empty() && name == named);
}

std::string mirror_ref(const std::string& name) {
  if (name.starts_with(kHeads)) return std::string(kMirrorHeads) + name.substr(kHeads.size());
  if (name.starts_with(kTags)) return name;
  return std::string(kMirrorNamed) + (name.starts_with("refs/") ? name.substr(5) : name);
}

std::vector<std::string> fetch_refspecs(const std::string& named) {
  std::vector<std::string> specs{"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"};
  if (!named.empty()) specs.push_back("+" + named + ":" + mirror_ref(named));
  return specs;
}

Branches branches_of(const RemoteRefs& remote) {
  Branches branches;
  if (remote.head_ref.starts_with(kHeads)) branches.default_branch = remote.head_ref.substr(kHeads.size());
  for (const auto& ref : remote.refs)
    if (ref.name.starts_with(kHeads) && is_utf8(ref.name)) branches.names.push_back(ref.name.substr(kHeads.size()));
  std::sort(branches.names.begin(), branches.names.end());
  const auto first = std::find(branches.names.begin(), branches.names.end(), branches.default_branch);
  if (first != branches.names.end()) std::rotate(branches.names.begin(), first, first + 1);
  branches.more = branches.names.size() > kMostBranches;
  if (branches.more) branches.names.resize(kMostBranches);
  return branches;
}

bool has_tips(git_repository* mirror, const RemoteRefs& remote) {
  const Odb odb = odb_of(mirror);
  const auto has = [&](const std::string& id) {
    const git_oid oid = oid_of(id);
    return git_odb_exists(odb.get(), &oid) == 1;
  };
  if (!remote.head_id.empty() && !has(remote.head_id)) return false;
  return std::all_of(remote.refs.begin(), remote.refs.end(), [&](const auto& ref) { return has(ref.id); });
}

void update_refs(git_repository* mirror, const RemoteRefs& remote, const std::string& named) {
  const RefMap wanted = wanted_refs(remote);
  const RefMap current = current_refs(mirror);
  for (const auto& [name, id] : current) {
    // A reference that was asked for once stays until it is asked for again: nobody lists it in between.
    const bool listed = !name.starts_with(kMirrorNamed) || (!named.empty() && name == mirror_ref(named));
    if (listed && !wanted.contains(name)) check("removing " + name, git_reference_remove(mirror, name.c_str()));
  }
  std::size_t written = 0;
  for (const auto& [name, id] : wanted) {
    const auto now = current.find(name);
    if (now != current.end() && now->second == id) continue;
    write_ref(mirror, name, id);
    ++written;
  }
  update_head(mirror, remote, wanted);
  if (written >= kPackRefsFrom) pack_refs(mirror);
}

}  // namespace forge::git
