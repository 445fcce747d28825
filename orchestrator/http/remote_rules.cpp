#include "orchestrator/http/remote_rules.h"

#include <algorithm>
#include <filesystem>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::http {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScript = "scripted:";

Error forbidden(const char* field, const std::string& message) {
  return public_failure(ErrorCode::permission_denied, message)
      .in_field(field)
      .with_hint("repositories.allow_local in the server's configuration lists what callers over the network may name");
}

}  // namespace

// Both sides are resolved as far as they exist, so that neither ".." nor a link leads out. A link that is planted afterwards, by one who
// may write below a prefix, is not seen here; prefixes are for directories whose writers are trusted as operators are.
bool is_below(const std::string& path, const std::vector<std::string>& prefixes) {
  const auto resolved = [](const std::string& text) -> std::optional<fs::path> {
    if (!text.starts_with('/')) return {};
    std::error_code error;
    fs::path whole = fs::weakly_canonical(text, error);
    if (error) return {};
    return whole.has_filename() ? whole : whole.parent_path();
  };
  const auto target = resolved(path);
  if (!target) return false;
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
    const auto root = resolved(prefix);
    if (!root) return false;
    const auto [left, right] = std::mismatch(root->begin(), root->end(), target->begin(), target->end());
    return left == root->end();
  });
}

void check_remote_repository(const std::optional<std::string>& local_path, const std::vector<std::string>& allow_local) {
  if (local_path && !is_below(*local_path, allow_local))
    throw forbidden("repository", "this server does not let remote callers name that local path");
}

void check_remote_spec(const JobSpec& spec, const std::optional<std::string>& local_path, const JobSpec& defaults,
                       const std::vector<std::string>& allow_local) {
  check_remote_repository(local_path, allow_local);
  // A script is read by the server and its words come back in the trace: any file could be read that way.
  if (spec.model.starts_with(kScript) && spec.model != defaults.model && !is_below(spec.model.substr(kScript.size()), allow_local))
    throw forbidden("model", "this server does not let remote callers name that model script");
  // Without a sandbox the agent's commands run as the server itself.
  if (spec.driver == "none" && defaults.driver != "none")
    throw public_failure(ErrorCode::permission_denied, "remote callers may not run jobs without a sandbox").in_field("driver");
}

}  // namespace forge::http
