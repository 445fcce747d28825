#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/store/database.h"

namespace forge::store {

/// Read-only connections to both files.
struct ReadScope {
  Database& main;
  Database& trace;
};

/// A pool of read-only connections: each reading thread has a pair for itself while it reads. There are as many as reads that ever
/// ran at once, kept for the next ones up to kKept.
class Readers {
 public:
  static constexpr std::size_t kKept = 8;

  Readers(std::string main_path, std::string trace_path) : main_path_(std::move(main_path)), trace_path_(std::move(trace_path)) {}

  /// Runs `reading` with one snapshot of forge.db over all of its queries; each query of trace.db has a snapshot of its own.
  template <typename Reading>
  auto read(Reading&& reading) {
    const Borrowed pair(*this);
    const Transaction snapshot(pair.scope().main);
    return reading(pair.scope());
  }

 private:
  struct Pair {
    Database main;
    Database trace;
    ReadScope scope{main, trace};
  };
  class Borrowed {
   public:
    explicit Borrowed(Readers& owner) : owner_(owner), pair_(owner.borrow()) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() { owner_.give_back(std::move(pair_)); }
    ReadScope& scope() const { return pair_->scope; }

   private:
    Readers& owner_;
    std::unique_ptr<Pair> pair_;
  };
  std::unique_ptr<Pair> borrow();
  void give_back(std::unique_ptr<Pair> pair);

  const std::string main_path_;
  const std::string trace_path_;
  Guarded<std::vector<std::unique_ptr<Pair>>> idle_;
};

}  // namespace forge::store
