#include "orchestrator/store/readers.h"

namespace forge::store {

std::unique_ptr<Readers::Pair> Readers::borrow() {
  {
    auto idle = idle_.lock();
    if (!idle->empty()) {
      auto pair = std::move(idle->back());
      idle->pop_back();
      return pair;
    }
  }
  // The durability of a connection that never commits does not matter.
  return std::unique_ptr<Pair>(
      new Pair{{main_path_, Access::read_only, Durability::full}, {trace_path_, Access::read_only, Durability::normal}});
}

void Readers::give_back(std::unique_ptr<Pair> pair) {
  auto idle = idle_.lock();
  // More than kKept at once was a burst; the rest closes here.
  if (idle->size() < kKept) idle->push_back(std::move(pair));
}

}  // namespace forge::store
