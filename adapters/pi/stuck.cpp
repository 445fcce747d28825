#include "adapters/pi/stuck.h"

#include <algorithm>
#include <cctype>
#include <functional>

namespace forge::adapters::pi {
namespace {

// Public thresholds of an agent that measured them: 60 of 300 runs of an older model were stuck by these, 3 of 300 of a newer one.
constexpr std::size_t kSameStep = 4;
constexpr std::size_t kSameFailure = 3;
constexpr std::size_t kAlternation = 6;
constexpr std::size_t kRemembered = kAlternation;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool waits(std::string_view arguments) {
  return arguments.find("sleep ") != std::string_view::npos || arguments.find("wait") != std::string_view::npos;
}

}  // namespace

std::string normalised(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      while (i < text.size() && is_space(text[i])) ++i;
      out += ' ';
      continue;
    }
    if (!is_digit(text[i])) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    const std::string_view after = text.substr(end);
    const bool duration = after.starts_with("s") || after.starts_with("ms") || after.starts_with(" s") || after.starts_with(" ms");
    const bool numbered_file = out.ends_with("output-");
    if (duration || numbered_file) {
      out += '#';
    } else {
      out += text.substr(i, end - i);
    }
    i = end;
  }
  return out;
}

bool StuckDetector::note(std::string_view tool, std::string_view arguments, std::string_view observation, bool ok) {
  if (waits(arguments)) return false;
  const std::hash<std::string> hash;
  steps_.push_back({hash(std::string(tool) + ' ' + normalised(arguments)), hash(normalised(observation)), ok});
  if (steps_.size() > kRemembered) steps_.pop_front();
  if (!in_circle()) return false;
  steps_.clear();
  return true;
}

bool StuckDetector::in_circle() const {
  const auto last_are = [&](std::size_t count, auto same) {
    return steps_.size() >= count && std::all_of(steps_.end() - static_cast<std::ptrdiff_t>(count), steps_.end(), same);
  };
  const Step& last = steps_.back();
  if (last_are(kSameStep, [&](const Step& s) { return s == last; })) return true;
  if (last_are(kSameFailure, [&](const Step& s) { return !s.ok && s.action == last.action; })) return true;
  if (steps_.size() < kAlternation) return false;
  const Step& other = steps_[steps_.size() - 2];
  if (other == last) return false;
  for (std::size_t i = 0; i < kAlternation; ++i)
    if (steps_[steps_.size() - 1 - i] != (i % 2 == 0 ? last : other)) return false;
  return true;
}

}  // namespace forge::adapters::pi
