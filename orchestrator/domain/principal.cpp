#include "orchestrator/domain/principal.h"

#include <array>

namespace forge {
namespace {

constexpr std::array<std::string_view, 4> kRoles{"admin", "operator", "reviewer", "viewer"};
static_assert(kRoles.size() == static_cast<std::size_t>(Role::viewer) + 1);

}  // namespace

std::string_view name_of(Role role) { return kRoles.at(static_cast<std::size_t>(role)); }

std::optional<Role> parse_role(std::string_view name) {
  for (std::size_t i = 0; i < kRoles.size(); ++i)
    if (kRoles[i] == name) return static_cast<Role>(i);
  return {};
}

}  // namespace forge
