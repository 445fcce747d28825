#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace forge::adapters::pi {

/// Notices that an agent goes round in circles. Thresholds are OpenHands' public ones. A call counts by its name, its arguments and what
/// came of them, times and durations ignored; calls that wait on purpose (sleep, wait) do not count, nor do calls whose outcome changes.
class StuckDetector {
 public:
  static constexpr std::size_t kSameCalls = 4;     ///< same call, same outcome
  static constexpr std::size_t kSameFailures = 3;  ///< same call, same failure
  static constexpr std::size_t kAlternations = 6;  ///< calls A B A B A B, with the same outcomes
  static constexpr std::size_t kMonologue = 3;     ///< responses in a row without a call, though the task goes on
  static constexpr std::size_t kForgiven = 20;     ///< calls after a nudge without a new circle: the nudge is forgotten

  enum class Verdict {
    fine,
    nudge,  ///< tell the model why(), once
    stop,   ///< it was told already
  };

  /// After each call. The verdict is for the newest circle; the calls of a circle that was reported count no more.
  Verdict called(const std::string& name, std::string_view arguments_json, std::string_view outcome, bool ok);
  /// After each response without a call that does not end the work.
  Verdict talked();
  /// The last circle, for the model and for people: "bash was called 4 times in a row with the same outcome".
  const std::string& why() const { return why_; }

 private:
  struct Call {
    std::string name;
    std::uint64_t action = 0;  // hash of name and arguments
    std::uint64_t event = 0;   // and of the outcome
    bool ok = true;
  };
  bool repeats(std::size_t times, bool failures_only) const;
  bool alternates() const;
  Verdict report(std::string why);

  std::deque<Call> recent_;  // the last kAlternations
  std::size_t talks_ = 0;
  std::size_t since_nudge_ = 0;
  bool nudged_ = false;
  std::string why_;
};

}  // namespace forge::adapters::pi
