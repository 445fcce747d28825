#include "adapters/pi/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"

namespace forge::adapters::pi {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The length of a unit of time right behind a number, one blank between allowed; 0 when there is none.
std::size_t unit_length(std::string_view text) {
  const std::size_t blank = text.starts_with(' ') ? 1 : 0;
  for (const std::string_view unit : {"seconds", "second", "secs", "sec", "ms", "us", "ns", "s"}) {
    if (text.substr(blank, unit.size()) != unit) continue;
    const std::size_t end = blank + unit.size();
    if (end >= text.size() || !is_letter(text[end])) return end;
  }
  return 0;
}

/// Where the word at `at` begins.
std::size_t word_begin(std::string_view text, std::size_t at) {
  const std::size_t blank = text.find_last_of(" \t\n\r", at);
  return blank == std::string_view::npos ? 0 : blank + 1;
}

/// The text without what differs from run to run of one program: blanks, durations ("0.12 s"), times of day ("12:00:01"), and the numbers
/// of temporary files, among them those that hold the whole of a long output.
std::string normalised(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_number = is_digit(text[at]) && (at == 0 || (!is_digit(text[at - 1]) && !is_letter(text[at - 1])));
    if (begins_number) {
      std::size_t end = at;
      while (end < text.size() &&
             (is_digit(text[end]) || ((text[end] == '.' || text[end] == ':') && end + 1 < text.size() && is_digit(text[end + 1]))))
        ++end;
      const std::size_t unit = unit_length(text.substr(end));
      const bool is_time =
          unit > 0 || std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end), ':') == 2;
      const bool temporary = text.substr(word_begin(text, at)).starts_with("/tmp/");
      result += is_time || temporary ? "#" : std::string(text.substr(at, end - at));
      at = end + unit;
    } else {
      const bool blank = text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r';
      if (!blank || !result.ends_with(' ')) result += blank ? ' ' : text[at];
      ++at;
    }
  }
  return result;
}

/// Equal for equal arguments, however they were written.
std::string canonical(std::string_view arguments_json) {
  try {
    return dump_json(parse_json(arguments_json, "arguments"));
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument) throw;
    return std::string(arguments_json);
  }
}

/// `word` stands in the text and is no part of a longer word.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || (!is_letter(text[at - 1]) && text[at - 1] != '_' && text[at - 1] != '.');
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || (!is_letter(text[end]) && text[end] != '_' && text[end] != '('))) return true;
  }
  return false;
}

/// Polling is no circle: its outcome may stay the same for long. Only a command can wait; in the texts of other tools the words mean
/// nothing.
bool waits_on_purpose(std::string_view tool, std::string_view arguments) {
  return tool == "bash" && (has_word(arguments, "sleep") || has_word(arguments, "wait"));
}

std::uint64_t hash_of(const std::string& text) { return std::hash<std::string>{}(text); }

}  // namespace

StuckDetector::Verdict StuckDetector::called(const std::string& name, std::string_view arguments_json, std::string_view outcome, bool ok) {
  talks_ = 0;
  if (nudged_ && ++since_nudge_ >= kForgiven) nudged_ = false;
  const std::string arguments = canonical(arguments_json);
  // Clears the record, too: what stood before a wait is no circle with what comes after it.
  if (waits_on_purpose(name, arguments)) {
    recent_.clear();
    return Verdict::fine;
  }
  const std::string action = name + '\0' + arguments;
  recent_.push_back({name, hash_of(action), hash_of(action + '\0' + normalised(outcome)), ok});
  if (recent_.size() > kAlternations) recent_.pop_front();
  // The sharper rule first: its text tells more.
  if (repeats(kSameFailures, true)) return report(fmt::format("{} failed {} times in a row in the same way", name, kSameFailures));
  if (repeats(kSameCalls, false)) return report(fmt::format("{} was called {} times in a row with the same outcome", name, kSameCalls));
  if (alternates()) return report(fmt::format("two calls ({} and {}) alternate with the same outcomes", recent_[0].name, recent_[1].name));
  return Verdict::fine;
}

StuckDetector::Verdict StuckDetector::talked() {
  if (++talks_ < kMonologue) return Verdict::fine;
  why_ = fmt::format("{} responses in a row called no tool and did not end the task", kMonologue);
  return Verdict::stop;  // each of them was answered with what to do
}

bool StuckDetector::repeats(std::size_t times, bool failures_only) const {
  if (recent_.size() < times) return false;
  const Call& last = recent_.back();
  return std::all_of(recent_.end() - static_cast<std::ptrdiff_t>(times), recent_.end(),
                     [&](const Call& call) { return call.event == last.event && !(failures_only && call.ok); });
}

bool StuckDetector::alternates() const {
  if (recent_.size() < kAlternations || recent_[0].event == recent_[1].event) return false;
  for (std::size_t i = 2; i < recent_.size(); ++i)
    if (recent_[i].event != recent_[i - 2].event) return false;
  return true;
}

/// Starts the record anew, so that one circle is reported once.
StuckDetector::Verdict StuckDetector::report(std::string why) {
  why_ = std::move(why);
  recent_.clear();
  if (nudged_) return Verdict::stop;
  nudged_ = true;
  since_nudge_ = 0;
  return Verdict::nudge;
}

}  // namespace forge::adapters::pi
