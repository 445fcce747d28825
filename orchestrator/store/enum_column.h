#pragma once

#include <string>

#include "orchestrator/base/error.h"
#include "orchestrator/store/database.h"

namespace forge::store {

/// The enum whose name stands in `column`, by its `parse_...` function. Throws corrupt for a name that it does not know.
template <typename Parse>
auto enum_in(Query& row, const char* column, Parse parse) {
  const std::string name = row.text(column);
  const auto value = parse(name);
  if (!value) throw Error(ErrorCode::corrupt, std::string("unknown ") + column + " '" + name + "' in the database");
  return *value;
}

}  // namespace forge::store
