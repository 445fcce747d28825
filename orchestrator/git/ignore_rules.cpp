#include "orchestrator/git/ignore_rules.h"

#include <filesystem>
#include <fstream>

#include "orchestrator/base/confined_dir.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;

// Rules are some lines; what is larger is something else, and would be matched against every path.
constexpr git_object_size_t kMaxRulesBytes = 1 << 20;
constexpr const char* kRulesFile = ".gitignore";

}  // namespace

IgnoreRules::IgnoreRules(git_repository* mirror, BaseTree& base, std::string scratch)
    : mirror_(mirror), base_(base), scratch_(std::move(scratch)) {}

IgnoreRules::~IgnoreRules() {
  if (!rules_) return;
  rules_.reset();
  std::error_code ignored_here;  // the next start removes what stays
  fs::remove_all(scratch_, ignored_here);
}

void IgnoreRules::prepare() {
  fs::create_directories(scratch_ + "/tree");
  git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
  options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
  const std::string git_dir = scratch_ + "/rules.git";
  rules_ = receive<Repository>("preparing ignore rules",
                               [&](git_repository** out) { return git_repository_init_ext(out, git_dir.c_str(), &options); });
  check("preparing ignore rules", git_repository_set_workdir(rules_.get(), (scratch_ + "/tree").c_str(), 0));
}

/// The rules of `directory` and of all above it.
void IgnoreRules::lay_out(const std::string& directory) {
  if (!laid_out_.insert(directory).second) return;
  if (!directory.empty()) {
    const auto slash = directory.rfind('/');
    lay_out(slash == std::string::npos ? "" : directory.substr(0, slash));
  }
  const git_tree_entry* entry = base_.find(directory.empty() ? kRulesFile : directory + "/" + kRulesFile);
  // git does not follow a .gitignore that is a link either.
  if (entry == nullptr || git_tree_entry_type(entry) != GIT_OBJECT_BLOB || git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK) return;
  const auto blob = receive<Blob>("reading a .gitignore of the base",
                                  [&](git_blob** out) { return git_blob_lookup(out, mirror_, git_tree_entry_id(entry)); });
  if (git_blob_rawsize(blob.get()) > kMaxRulesBytes) return;
  if (!rules_) prepare();
  const std::string place = scratch_ + "/tree/" + directory;
  fs::create_directories(place);
  std::ofstream(place + "/" + kRulesFile, std::ios::binary)
      .write(static_cast<const char*>(git_blob_rawcontent(blob.get())), static_cast<std::streamsize>(git_blob_rawsize(blob.get())));
  any_ = true;
}

bool IgnoreRules::ignores(const std::string& path) {
  const auto slash = path.rfind('/');
  lay_out(slash == std::string::npos ? "" : path.substr(0, slash));
  if (!any_) return false;
  int ignored = 0;
  check("matching ignore rules", git_ignore_path_is_ignored(&ignored, rules_.get(), path.c_str()));
  return ignored == 1;
}

}  // namespace forge::git
