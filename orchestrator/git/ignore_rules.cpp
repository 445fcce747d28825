#include "orchestrator/git/ignore_rules.h"

#include <string_view>

namespace forge::git {
namespace {

// Rules are some lines; what is larger is something else, and would be matched against every path.
constexpr git_object_size_t kMaxRulesBytes = 256 << 10;
constexpr const char* kRulesFile = ".gitignore";

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace

std::vector<IgnorePattern> IgnoreRules::read(const std::string& directory) {
  const git_tree_entry* entry = base_.find(directory.empty() ? kRulesFile : directory + "/" + kRulesFile);
  // git does not follow a .gitignore that is a link either.
  if (entry == nullptr || git_tree_entry_type(entry) != GIT_OBJECT_BLOB || git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK) return {};
  const auto blob = receive<Blob>("reading a .gitignore of the base",
                                  [&](git_blob** out) { return git_blob_lookup(out, mirror_, git_tree_entry_id(entry)); });
  if (git_blob_rawsize(blob.get()) > kMaxRulesBytes) return {};
  return read_ignore_patterns(
      {static_cast<const char*>(git_blob_rawcontent(blob.get())), static_cast<std::size_t>(git_blob_rawsize(blob.get()))});
}

const IgnoreRules::Directory& IgnoreRules::directory(const std::string& path) {
  if (const auto known = directories_.find(path); known != directories_.end()) return known->second;
  Directory found;
  if (!path.empty()) found.ignored = directory(directory_of(path)).ignored || judge(path, true);
  if (!found.ignored) found.patterns = read(path);
  return directories_.emplace(path, std::move(found)).first->second;
}

/// By the last pattern that matches in the nearest directory that has one. The directories above are known by now.
bool IgnoreRules::judge(const std::string& path, bool is_directory) {
  for (std::string above = directory_of(path);; above = directory_of(above)) {
    const std::string_view below = std::string_view(path).substr(above.empty() ? 0 : above.size() + 1);
    const auto& patterns = directories_.at(above).patterns;
    for (auto pattern = patterns.rbegin(); pattern != patterns.rend(); ++pattern)
      if (pattern->matches(below, is_directory)) return !pattern->negated();
    if (above.empty()) return false;
  }
}

bool IgnoreRules::ignores(const std::string& path) { return directory(directory_of(path)).ignored || judge(path, false); }

}  // namespace forge::git
