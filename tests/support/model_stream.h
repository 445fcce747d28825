#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace forge::test {

// The bytes of a scripted answer in both wire formats. Written apart from orchestrator/models on purpose: a mistake there is not repeated
// here.

enum class ModelFormat { anthropic, openai };
inline void PrintTo(ModelFormat format, std::ostream* out) { *out << (format == ModelFormat::anthropic ? "anthropic" : "openai"); }

struct ModelTool {
  std::string id;
  std::string name;
  std::string arguments;
};

/// One step of a script, as docs/scripted-models.md describes it.
struct ModelStep {
  std::string text;
  std::string thinking;
  std::vector<ModelTool> tools;
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;
  std::string stop;
  std::int64_t delay_ms = 0;
  int error_status = 0;
  std::string retry_after_s;  ///< as the script has it; "" = none
  std::int64_t error_times = 0;
  bool cut = false;
};

/// Reads a script; throws bad_input for what it does not know.
std::vector<ModelStep> read_model_script(std::string_view json_text);

/// What goes wrong, or is merely odd, on purpose.
struct ModelFaults {
  std::size_t split_at = 0;                ///< the stream is written in two pieces, cut at that byte
  bool drip = false;                       ///< one byte at a time
  bool crlf = false;                       ///< CRLF ends the lines of the stream
  bool hang = false;                       ///< nothing comes after the first event
  bool reset = false;                      ///< the connection is reset after the first event
  std::optional<std::size_t> error_after;  ///< an error inside the stream after that many events
  bool repeat_usage = false;               ///< cumulative counts come more than once
  bool missing_done = false;               ///< OpenAI: no [DONE]
  bool no_end = false;                     ///< the body does not end after the last event
  bool no_index = false;                   ///< OpenAI: tool calls without index
  bool zero_index = false;                 ///< OpenAI: index 0 for every tool call
  bool null_ids = false;                   ///< OpenAI: "null" for ids
  bool repeat_ids = false;                 ///< OpenAI: id and name in every fragment
  bool whole_calls = false;                ///< OpenAI: each call in one fragment
  bool null_choices = false;               ///< OpenAI: the usage chunk has choices null instead of []
  bool refuse_stream_options = false;      ///< OpenAI: 400 for a request with that key, and no usage chunk

  /// Sets one by its name, "crlf" or "split_at=17"; throws bad_input for one that does not exist.
  void set(const std::string& name);
};

/// What an answer is made for.
struct ModelAnswer {
  ModelFormat format = ModelFormat::anthropic;
  std::string model;
  std::size_t number = 0;  ///< of the step, from 0
};

/// The events of the stream, each with its blank line.
std::vector<std::string> model_events(const ModelStep& step, const ModelAnswer& answer, const ModelFaults& faults);

/// Body of an answer with that status.
std::string model_error_body(ModelFormat format, int status, const std::string& message);

}  // namespace forge::test
