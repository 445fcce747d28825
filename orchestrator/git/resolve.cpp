#include "orchestrator/git/resolve.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "orchestrator/base/text.h"
#include "orchestrator/git/remote_refs.h"

namespace forge::git {
namespace {

constexpr std::string_view kBranches = "refs/remotes/origin/";
constexpr std::size_t kNearest = 5;
constexpr std::size_t kLeastIdDigits = 4;
constexpr std::size_t kMaxRefBytes = 1024;

Error base_fault(ErrorCode code, const std::string& text, std::string hint) {
  return public_failure(code, text).in_field("base").with_hint(std::move(hint));
}

std::vector<std::string> branch_names(git_repository* mirror) {
  std::vector<std::string> names;
  const auto iterator = receive<ReferenceIterator>("listing branches", [&](git_reference_iterator** out) {
    return git_reference_iterator_glob_new(out, mirror, "refs/remotes/origin/*");
  });
  const char* name = nullptr;
  while (git_reference_next_name(&name, iterator.get()) == 0)
    names.push_back(to_utf8(std::string_view(name).substr(kBranches.size())).text);
  std::sort(names.begin(), names.end());
  return names;
}

/// Forge's own, one for each run, would hide the few that people mean: they count only where there is no other.
void put_aside_own(std::vector<std::string>& names) {
  const auto own = [](const std::string& name) { return name.starts_with("forge/"); };
  if (!std::all_of(names.begin(), names.end(), own)) std::erase_if(names, own);
}

/// Up to five branches: those spelled nearly like `word` first.
std::string some_branches(git_repository* mirror, const std::string& word) {
  std::vector<std::string> all = branch_names(mirror);
  put_aside_own(all);
  if (all.empty()) return "it has no branches";
  std::vector<std::string> chosen;
  const auto choose = [&](const std::string& name) {
    chosen.push_back(name);
    std::erase(all, name);
  };
  for (std::string near = nearest(word, all); !near.empty() && chosen.size() < kNearest; near = nearest(word, all)) choose(near);
  const bool similar = !chosen.empty();
  while (!all.empty() && chosen.size() < kNearest) choose(std::string(all.front()));
  std::string text = similar ? "did you mean " : "branches are ";
  for (std::size_t i = 0; i < chosen.size(); ++i) text += (i == 0 ? "" : ", ") + chosen[i];
  return text + (all.empty() ? "" : ", ...");
}

/// The commit that `object` is or, for tags, leads to.
Resolved commit_behind(git_object* object, const std::string& ref, const std::string& base) {
  git_object* raw = nullptr;
  const int result = git_object_peel(&raw, object, GIT_OBJECT_COMMIT);
  const Object commit(raw);
  if (result < 0)
    throw base_fault(ErrorCode::invalid_argument, "'" + base + "' does not name a commit", "a branch, a tag of a commit, or a commit id");
  const git_oid* tree = git_commit_tree_id(reinterpret_cast<git_commit*>(commit.get()));
  return {.ref = ref, .commit = hex_of(*git_object_id(commit.get())), .tree = hex_of(*tree)};
}

std::optional<Resolved> find_ref(git_repository* mirror, const std::string& remote_name, const std::string& base) {
  const std::string name = mirror_ref(remote_name);
  int valid = 0;
  if (git_reference_name_is_valid(&valid, name.c_str()) < 0 || valid == 0) return {};
  git_oid id{};
  const int result = git_reference_name_to_id(&id, mirror, name.c_str());
  if (result == GIT_ENOTFOUND) return {};
  check("reading " + name, result);
  const auto object = receive<Object>("reading what " + name + " points at",
                                      [&](git_object** out) { return git_object_lookup(out, mirror, &id, GIT_OBJECT_ANY); });
  return commit_behind(object.get(), remote_name, base);
}

bool looks_like_id(const std::string& text) {
  return text.size() >= kLeastIdDigits && text.size() <= GIT_OID_HEXSZ &&
         lower_ascii(text).find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::optional<Resolved> find_id(git_repository* mirror, const std::string& text) {
  git_oid id{};
  check("reading an object id", git_oid_fromstrn(&id, text.c_str(), text.size()));
  git_object* raw = nullptr;
  const int result = git_object_lookup_prefix(&raw, mirror, &id, text.size(), GIT_OBJECT_ANY);
  const Object object(raw);
  if (result == GIT_ENOTFOUND) return {};
  if (result == GIT_EAMBIGUOUS)
    throw base_fault(ErrorCode::invalid_argument, "'" + text + "' is the beginning of several object ids", "more digits of it");
  check("reading " + text, result);
  return commit_behind(object.get(), "", text);
}

Error headless(git_repository* mirror, const std::string& repository) {
  return base_fault(ErrorCode::invalid_argument, "HEAD of '" + repository + "' points at no branch; " + some_branches(mirror, "main"),
                    "name a base");
}

Resolved resolve_head(git_repository* mirror, const std::string& repository) {
  git_reference* raw = nullptr;
  const int result = git_reference_lookup(&raw, mirror, kRemoteHead);
  const Reference head(raw);
  if (result == GIT_ENOTFOUND) throw headless(mirror, repository);
  check("reading the remote's HEAD", result);
  const char* target = git_reference_symbolic_target(head.get());
  std::optional<Resolved> found;
  if (target == nullptr) {
    found = find_id(mirror, hex_of(*git_reference_target(head.get())));
  } else {
    const std::string_view name = target;
    found = find_ref(mirror, name.starts_with(kBranches) ? "refs/heads/" + std::string(name.substr(kBranches.size())) : std::string(name),
                     "HEAD");
  }
  if (!found) throw headless(mirror, repository);  // a crash between the removal of a branch and the change of HEAD
  return std::move(*found);
}

}  // namespace

std::string named_ref(const std::string& base) {
  const bool whole = base.starts_with("refs/") && !base.starts_with("refs/heads/") && !base.starts_with("refs/tags/");
  int valid = 0;
  return whole && git_reference_name_is_valid(&valid, base.c_str()) == 0 && valid == 1 ? base : "";
}

Resolved resolve_base(git_repository* mirror, const std::string& base, const std::string& repository) {
  if (base.empty() || base == "HEAD") return resolve_head(mirror, repository);
  if (base.size() > kMaxRefBytes || base.find('\0') != std::string::npos)
    throw bad_input("base", "this is no name of a branch, a tag or a commit");
  if (base.starts_with("refs/")) {
    if (const auto found = find_ref(mirror, base, base)) return *found;
  } else {
    for (const char* prefix : {"refs/heads/", "refs/tags/"})
      if (const auto found = find_ref(mirror, prefix + base, base)) return *found;
  }
  const bool id = looks_like_id(base);
  if (id)
    if (const auto found = find_id(mirror, lower_ascii(base))) return *found;
  const std::string what =
      id ? "no branch or tag of '" + repository + "' holds the commit '" : "'" + repository + "' has no branch, tag or commit '";
  throw base_fault(ErrorCode::not_found, what + base + "'; " + some_branches(mirror, base), "a branch, a tag or a commit id");
}

}  // namespace forge::git
