#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/trace.h"

namespace forge::test {

/// A trace sink that remembers. Safe to use from several threads.
class TraceRecorder final : public TraceSink {
 public:
  struct Seen {
    TraceData data;
    std::optional<int> turn;
  };

  void append(TraceData data, std::optional<int> turn = {}) override { seen_.lock()->push_back({std::move(data), turn}); }
  void alive() override { ++*alive_.lock(); }

  std::vector<Seen> all() const { return *seen_.lock(); }
  /// All events of one type, in order.
  template <typename Data>
  std::vector<Data> of() const {
    std::vector<Data> found;
    for (const Seen& one : all())
      if (const auto* data = std::get_if<Data>(&one.data)) found.push_back(*data);
    return found;
  }
  /// "turn model text tool_call tool_result": the types in order.
  std::string types() const {
    std::string names;
    for (const Seen& one : all()) names.append(names.empty() ? "" : " ").append(name_of(type_of(one.data)));
    return names;
  }
  int alive_calls() const { return *alive_.lock(); }

 private:
  mutable Guarded<std::vector<Seen>> seen_;
  mutable Guarded<int> alive_;
};

}  // namespace forge::test
