#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace forge {

/// What a principal may do; each role includes the ones after it.
enum class Role { admin, operator_, reviewer, viewer };

std::string_view name_of(Role role);
std::optional<Role> parse_role(std::string_view name);
constexpr bool at_least(Role has, Role needed) { return static_cast<int>(has) <= static_cast<int>(needed); }

/// The name of whoever may open the unix socket. No token can have it.
inline constexpr std::string_view kLocalName = "local";

/// Who asks. `name` is shown and stored with what they do; `local` marks the unix socket and the in-process CLI, which may name
/// repositories by any path.
struct Principal {
  std::string name;
  Role role = Role::viewer;
  bool local = false;
};

}  // namespace forge
