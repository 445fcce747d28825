#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/sandbox/driver.h"

namespace forge::adapters::claude_code {

/// The version whose options, lines and ends this adapter was checked against; what `forge adapter install` installs.
inline constexpr std::string_view kPinnedVersion = "2.1.332";

/// Where the program stands inside the sandbox.
inline constexpr std::string_view kProgram = "/opt/forge/claude";
/// What the program keeps for itself, made anew for each session: settings that a setup command left in the home directory are not read.
inline constexpr std::string_view kStateFolder = "/home/agent/.forge-claude";
inline constexpr std::string_view kTempFolder = "/home/agent/.forge-claude/tmp";

/// Longer prompts go by standard input: one string of a command line may have 128 KiB.
inline constexpr std::size_t kMaxPromptArgument = 100'000;

/// One start of the program.
struct Invocation {
  std::string prompt;
  std::string model;          ///< as the gateway takes it
  std::string system_prompt;  ///< added to the program's own
  std::string session_id;     ///< a UUID
  bool resume = false;        ///< go on with that session
  std::int64_t max_turns = 0;
  bool as_root = false;  ///< user 0 inside the sandbox
};

/// Everything that decides how the program behaves. No budget is passed: the gateway keeps it, by the operator's own prices.
sandbox::CommandSpec command_for(const Invocation& invocation);

/// Where the program keeps the conversation of a session that worked in /workspace.
std::string transcript_path(const std::string& session_id);

/// A version 4 UUID.
std::string new_session_id();

}  // namespace forge::adapters::claude_code
