#pragma once

#include <cstddef>
#include <vector>

#include "orchestrator/base/stop.h"

namespace forge::tools {

/// Where `wanted`, which is not empty, stands in `text`: indexes, ascending. Also those that overlap: a text that stands twice in "aaa" is
/// not unique. The time is linear in both together, whatever they hold (Knuth, Morris and Pratt): a search that begins anew at each place
/// takes hours for a megabyte of one letter. Throws what `stop` says.
template <typename Sequence>
std::vector<std::size_t> occurrences(const Sequence& text, const Sequence& wanted, const Stop& stop) {
  constexpr std::size_t kBetweenChecks = 1 << 16;
  // By number of elements that agree: how many of them are still a beginning of `wanted` when the next one does not.
  std::vector<std::size_t> shorter(wanted.size() + 1, 0);
  const auto extend = [&](std::size_t agree, const auto& next) {
    while (agree > 0 && (agree == wanted.size() || !(wanted[agree] == next))) agree = shorter[agree];
    return wanted[agree] == next ? agree + 1 : agree;
  };
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    if (i % kBetweenChecks == 0) stop.check();
    shorter[i + 1] = extend(shorter[i], wanted[i]);
  }
  std::vector<std::size_t> found;
  std::size_t agree = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % kBetweenChecks == 0) stop.check();
    agree = extend(agree, text[i]);
    if (agree == wanted.size()) found.push_back(i + 1 - agree);
  }
  return found;
}

}  // namespace forge::tools
