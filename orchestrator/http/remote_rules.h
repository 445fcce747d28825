#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/domain/job.h"

namespace forge::http {

/// What a caller who is not on this machine may not name: files of this machine outside the allowed prefixes (a repository's path,
/// a model script), and the driver that isolates nothing, unless the configuration itself names it. Throws permission_denied with the
/// field; the same whether the file exists or not.
/// `local_path` is the repository as JobControl::local_path() reads it: a reading of our own could differ from the one that opens it.
void check_remote_spec(const JobSpec& spec, const std::optional<std::string>& local_path, const JobSpec& defaults,
                       const std::vector<std::string>& allow_local);

/// The same for a repository alone.
void check_remote_repository(const std::optional<std::string>& local_path, const std::vector<std::string>& allow_local);

/// True for a path that lies at or below one of the prefixes once links and ".." are resolved.
bool is_below(const std::string& path, const std::vector<std::string>& prefixes);

}  // namespace forge::http
