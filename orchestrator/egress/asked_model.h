#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

/// The body with another model; every other byte stays.
std::string with_model(std::string_view body, const AskedModel& asked, std::string_view model);

}  // namespace forge::egress
