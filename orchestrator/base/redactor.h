#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/guarded.h"

namespace forge {

/// Replaces secrets in text before it is stored or logged: the exact values it was told (8 characters or more), and shapes that are
/// secrets wherever they stand (`ghs_[A-Za-z0-9._-]{36,}` and its sisters, `sk-ant-...`, `Bearer ...`, `AKIA...`, PEM private keys).
class Redactor {
 public:
  static constexpr std::string_view kMark = "[redacted]";

  /// A value that must never be stored; of a header's value such as "Bearer x" also the credential alone. Values under 8 characters are
  /// ignored: they would mangle ordinary text.
  void add(std::string secret);
  std::string apply(std::string_view text) const;

 private:
  mutable Guarded<std::vector<std::string>> secrets_;
};

}  // namespace forge
