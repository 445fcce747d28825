#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/redactor.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/store/blobs.h"

namespace forge::store {

/// An event that is ready to be stored: no secrets, valid UTF-8, bounded.
struct EventText {
  TraceType type = TraceType::log;
  std::optional<int> turn;
  std::string data_json;
  std::vector<std::string> blobs;  ///< that data_json names
};

/// Redacts and cleans every text of `data`. A payload over Payload::kInlineBytes goes to `blobs` and leaves {"head", "tail", "bytes",
/// "blob"}; any other text over that size loses its middle. `"replaced"` counts the bad sequences that became U+FFFD, when there are any.
EventText event_text(const TraceData& data, std::optional<int> turn, const Redactor& redactor, const Blobs& blobs);

/// The same cleaning for one text of a row.
std::string clean_text(std::string_view text, const Redactor& redactor);

}  // namespace forge::store
