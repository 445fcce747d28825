#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orchestrator/base/stop.h"

namespace forge::sandbox::local {

/// 0, or the errno of opening or writing.
int write_control(const std::string& file, std::string_view text);
/// "" when it cannot be read.
std::string read_control(const std::string& file);
/// The file from its beginning, again: control files have no length.
std::string read_from_start(int fd);
/// The whole file as one number; "max" is the largest.
std::optional<std::int64_t> read_number(const std::string& file);
/// The number that follows `key` at the beginning of a line.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);
std::string errno_text(int error);
/// Whether pages of this machine can go to a swap device at all.
bool has_swap();

/// Lets groups below `directory` have memory, pids and cpu limits (v2). Processes of ours in `directory` itself move into a leaf of
/// their own, which v2 demands. Throws sandbox_unavailable.
void hand_down_controllers(const std::string& directory);

/// Kills what is in the group and below it, and removes all of it. False when something is left when `stop` ends; never throws.
bool remove_group_tree(const std::string& directory, const Stop& stop);

}  // namespace forge::sandbox::local
