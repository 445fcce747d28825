#pragma once

#include <string>

namespace forge::adapters::pi {

/// What the model is told once: who it is, where it works, how to end. `instructions` are the repository's own (AGENTS.md, CLAUDE.md);
/// they are marked as such, so that the model can weigh them against the task.
std::string system_prompt(const std::string& instructions);

/// Asks for a summary that can stand in for the older part of a conversation.
std::string compaction_prompt(const std::string& transcript);
/// What stands in for it.
std::string compacted_opening(const std::string& task, const std::string& summary);

inline constexpr const char* kNudge =
    "You have repeated the same step with the same result. Repeating it again will not help: look at the problem from another side, read "
    "what you have not read yet, or finish and say what is in the way.";
inline constexpr const char* kCutOff =
    "Your last answer was cut off by its length limit and no tool call of it was executed. Go on with a shorter answer: write large files "
    "in several steps.";
inline constexpr const char* kEmpty =
    "Your last answer was empty. Go on with the task, or say in a few sentences what you did if it is done.";

}  // namespace forge::adapters::pi
