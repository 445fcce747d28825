#pragma once

#include <memory>

#include "orchestrator/domain/access.h"
#include "orchestrator/store/store.h"

namespace forge::store {

/// Tokens, sign-in links and sessions of `store` as the doors see them. `store` must outlive it.
std::unique_ptr<AccessControl> make_access_control(Store& store);

}  // namespace forge::store
