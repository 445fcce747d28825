#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace forge::functional {

/// Processes, this one aside, whose command line, environment or cgroup mentions `mark`: "pid command line".
std::vector<std::string> processes_with(const std::string& mark);
/// Waits until there is such a process.
void wait_for_process(const std::string& mark);
/// Waits until there is none.
void wait_for_no_process(const std::string& mark);
/// A process, for ever: its number may be used again.
struct Seen {
  pid_t pid = 0;
  unsigned long long start_ticks = 0;
};
/// `pid`'s children, theirs, and so on.
std::vector<Seen> descendants(pid_t pid);
/// Waits until a descendant of `pid` has `mark` in its command line.
void wait_for_descendant(pid_t pid, const std::string& mark);
/// Waits until none of them lives; one that is only not reaped yet does not.
void wait_until_dead(const std::vector<Seen>& processes);

/// Lines of the mount table that mention `mark`.
std::vector<std::string> mounts_with(const std::string& mark);
/// Cgroup directories, in every hierarchy, whose name holds `mark`.
std::vector<std::string> cgroups_with(const std::string& mark);

}  // namespace forge::functional
