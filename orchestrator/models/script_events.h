#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orchestrator/models/providers.h"
#include "orchestrator/models/script.h"

namespace forge::models {

// The bytes of a scripted answer in both wire formats, for whoever plays a script over HTTP. It shares nothing with the readers of these
// formats on purpose: a mistake there is not repeated here.

/// What servers of these formats do differently from each other.
struct StreamOddities {
  bool whole_text = false;    ///< each text in one piece
  bool repeat_usage = false;  ///< cumulative counts come more than once
  bool missing_done = false;  ///< OpenAI: no [DONE]
  bool no_usage = false;      ///< OpenAI: no usage chunk
  bool no_index = false;      ///< OpenAI: tool calls without index
  bool zero_index = false;    ///< OpenAI: index 0 for every tool call
  bool null_ids = false;      ///< OpenAI: "null" for ids
  bool repeat_ids = false;    ///< OpenAI: id and name in every fragment
  bool whole_calls = false;   ///< OpenAI: each call in one fragment
  bool null_choices = false;  ///< OpenAI: the usage chunk has choices null instead of []
};

/// What an answer is made for.
struct StreamAnswer {
  WireFormat format = WireFormat::anthropic;
  std::string model;       ///< as asked for
  std::size_t number = 0;  ///< of the step, from 0
};

/// The events of the stream, each with its blank line. A step's `cut` leaves out message_stop, or the finish reason and all that follows
/// it.
std::vector<std::string> stream_events(const ScriptStep& step, const StreamAnswer& answer, const StreamOddities& oddities = {});

/// Body of an answer with that status.
std::string error_body(WireFormat format, int status, const std::string& message);

}  // namespace forge::models
