#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "orchestrator/models/script_events.h"

namespace forge::models {

inline void PrintTo(WireFormat format, std::ostream* out) { *out << name_of(format); }

}  // namespace forge::models

namespace forge::test {

using ModelFormat = models::WireFormat;

/// What goes wrong, or is merely odd, on purpose.
struct ModelFaults {
  models::StreamOddities oddities;
  std::size_t split_at = 0;                ///< the stream is written in two pieces, cut at that byte
  bool drip = false;                       ///< one byte at a time
  bool crlf = false;                       ///< CRLF ends the lines of the stream
  bool hang = false;                       ///< nothing comes after the first event
  bool reset = false;                      ///< the connection is reset after the first event
  std::optional<std::size_t> error_after;  ///< an error inside the stream after that many events
  bool no_end = false;                     ///< the body does not end after the last event
  bool refuse_stream_options = false;      ///< OpenAI: 400 for a request with that key, and no usage chunk

  /// Sets one by its name, "crlf" or "split_at=17"; throws bad_input for one that does not exist.
  void set(const std::string& name);
};

/// The events of the stream, each with its blank line, with the faults that are told by events.
std::vector<std::string> model_events(const models::ScriptStep& step, const models::StreamAnswer& answer, const ModelFaults& faults);

}  // namespace forge::test
