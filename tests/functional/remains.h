#pragma once

#include <string>
#include <vector>

namespace forge::functional {

/// Processes, this one aside, whose command line, environment or cgroup mentions `mark`: "pid command line".
std::vector<std::string> processes_with(const std::string& mark);
/// Waits until there is such a process.
void wait_for_process(const std::string& mark);
/// Waits until there is none.
void wait_for_no_process(const std::string& mark);
/// Lines of the mount table that mention `mark`.
std::vector<std::string> mounts_with(const std::string& mark);
/// Cgroup directories, in every hierarchy, whose name holds `mark`.
std::vector<std::string> cgroups_with(const std::string& mark);

}  // namespace forge::functional
