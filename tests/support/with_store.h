#pragma once

#include <memory>

#include "orchestrator/base/log.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/store/store.h"
#include "tests/support/temp_dir.h"

namespace forge::test {

/// Base of fixtures over a real SQLite store in a directory of its own. First among the bases, so that what uses the store goes before it.
template <typename ClockType>
class WithStore {
 protected:
  TempDir dir_;
  ClockType clock_;
  Redactor redactor_;
  std::unique_ptr<Log> log_ = make_null_log();
  std::unique_ptr<store::Store> store_ =
      store::open_sqlite_store({.directory = dir_.str(), .clock = clock_, .redactor = redactor_, .log = *log_});
};

}  // namespace forge::test
