#pragma once

#include <memory>
#include <string>

#include "orchestrator/models/wire.h"

namespace forge::models {

/// What servers of this format disagree on; set by what they refuse.
struct OpenAiDialect {
  bool stream_options = true;          ///< asks for the usage chunk
  bool max_completion_tokens = false;  ///< the newer name of max_tokens
};

/// Chat completions as OpenAI and many compatible servers speak them. `dialect` is where it starts.
std::unique_ptr<Wire> make_openai_wire(std::string model, OpenAiDialect dialect = {});

/// Body of POST /chat/completions, compact JSON.
std::string openai_body(const ModelRequest& request, const std::string& model, const OpenAiDialect& dialect = {});

/// Reads the chunks of one streamed completion, or one whole completion. `request` and `observer` must outlive it.
std::unique_ptr<StreamReader> make_openai_reader(const ModelRequest& request, ModelObserver& observer);

/// Reads the Responses API for a proxy: usage, stop reason and the flow of text; the response has no blocks. `observer` must outlive it.
std::unique_ptr<StreamReader> make_responses_reader(ModelObserver& observer);

/// Reads `{"error": {...}}` of a body or of a stream.
VendorError read_openai_error(std::string_view body);

}  // namespace forge::models
