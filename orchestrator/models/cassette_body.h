#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/redactor.h"

/// Private to the cassette.
namespace forge::models {

/// A request's body as a cassette compares it: scrubbed, without secrets, its members sorted. A body that is no JSON is a text.
nlohmann::json cassette_body(std::string_view body, const std::vector<std::string>& scrubs, const Redactor& redactor);

/// Where two bodies first differ: "messages[2].content[0].text"; "" when they do not, "(body)" when they differ as a whole.
std::string first_difference(const nlohmann::json& a, const nlohmann::json& b);

}  // namespace forge::models
