#pragma once

#include <memory>
#include <string>

#include "orchestrator/models/wire.h"

namespace forge::models {

/// The Anthropic Messages API, version 2023-06-01.
std::unique_ptr<Wire> make_anthropic_wire(std::string model);

/// Body of POST /v1/messages, compact JSON. Marks system prompt, last tool and last user block for the prompt cache.
std::string anthropic_body(const ModelRequest& request, const std::string& model);

/// Reads the events of one streamed message, or one whole message. Also usable by a proxy that only wants usage(): `observer` must outlive
/// it.
std::unique_ptr<StreamReader> make_anthropic_reader(ModelObserver& observer);

/// The HTTP status that an error type stands for: "overloaded_error" is 529. 500 for one we do not know.
int status_of_anthropic_error(std::string_view type);

}  // namespace forge::models
