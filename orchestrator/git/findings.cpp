#include "orchestrator/git/findings.h"

#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

// A hundred thousand bad names must not become a hundred thousand trace events.
constexpr std::size_t kMostPerKind = 50;

}  // namespace

void Findings::add(const std::string& kind, const std::string& path, const std::string& message) {
  auto& told = told_[kind];
  if (told.contains(path)) return;
  if (told.size() == kMostPerKind) {
    ++untold_[kind];
    return;
  }
  told.insert(path);
  found_.push_back({kind, to_utf8(path).text, message});
}

std::vector<CommitBuilder::Finding> Findings::all() const {
  std::vector<CommitBuilder::Finding> everything = found_;
  for (const auto& [kind, count] : untold_) everything.push_back({kind, "", std::to_string(count) + " more of this kind are not listed"});
  return everything;
}

}  // namespace forge::git
