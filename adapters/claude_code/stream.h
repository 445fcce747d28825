#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/claude_code/turn_trace.h"
#include "orchestrator/base/stop.h"

namespace forge::adapters::claude_code {

/// The program's last line about a prompt.
struct CliResult {
  std::string subtype;  ///< "success" says nothing about success
  bool is_error = false;
  std::string terminal_reason;  ///< "" in versions that do not say it
  std::string stop_reason;      ///< of the last response
  std::string text;             ///< the agent's last words
  std::vector<std::string> errors;
  std::optional<int> api_status;                       ///< of the answer that ended the run
  std::optional<std::int64_t> reported_cost_nano_usd;  ///< of this prompt alone, by the program's own prices
};

/// What one start of the program printed, as far as it decides how the prompt ended.
struct Heard {
  bool started = false;  ///< the first line came
  std::optional<CliResult> result;
  std::string last_text;
  int unreadable = 0;           ///< lines that are no JSON object
  std::string unreadable_line;  ///< the beginning of the first one
};

/// Turns the lines of `--output-format stream-json` into trace events. Unknown types and fields are passed over; keys may come in any
/// order; a response comes as one line per block of its content. Usage is not taken from here: the gateway counts.
class Stream {
 public:
  explicit Stream(TurnTrace& trace) : trace_(trace) {}

  /// One line, without its end, valid UTF-8.
  void line(std::string_view text);
  /// The program has ended: calls without a result get one.
  void finish();
  const Heard& heard() const { return heard_; }

 private:
  struct Call {
    std::string name;
    SteadyClock::time_point began;
    int turn = 0;
  };

  void hear_system(const nlohmann::json& line);
  void init(const nlohmann::json& line);
  void hear_assistant(const nlohmann::json& line);
  void block(const nlohmann::json& block, int turn);
  void hear_user(const nlohmann::json& line);
  void tool_result(const nlohmann::json& block, const nlohmann::json& line);
  void hear_result(const nlohmann::json& line);
  void denied(const std::string& tool, const std::string& call_id, const std::string& message);

  TurnTrace& trace_;
  Heard heard_;
  std::map<std::string, Call> open_calls_;  // by id
  std::set<std::string> denied_calls_;      // shown already
};

}  // namespace forge::adapters::claude_code
