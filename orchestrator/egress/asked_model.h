#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orchestrator/egress/answer_copy.h"

namespace forge::egress {

/// The `model` of a request's body, and where it stands.
struct AskedModel {
  std::string name;
  std::size_t begin = 0;  ///< of the JSON string, its quotes included
  std::size_t end = 0;
};

/// Finds `model` in a body without reading the rest: bodies are large, and what is inside is the provider's to judge. What stands outside
/// strings is checked as far as the place of `model` depends on it, so that the provider cannot find another one.
/// Throws bad_input("model"): the body is no JSON object, has no `model`, more than one (in
/// whatever case: some parsers do not look at that), or one that is no text.
AskedModel find_model(std::string_view body);

/// The most output tokens that a body asks for, under the names that count on `path`, times the answers that it asks for; the largest
/// number where there are several. Nothing when it says none, or something that is no number. `body` as find_model() takes it.
std::optional<std::int64_t> most_output_tokens(std::string_view body, DoorPath path);

/// The body with another model; every other byte stays.
std::string with_model(std::string_view body, const AskedModel& asked, std::string_view model);

}  // namespace forge::egress
