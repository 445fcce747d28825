#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace forge {

/// The bytes of what base64() made, padding included; nothing for anything else.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace forge
