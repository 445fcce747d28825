#pragma once

#include <string>
#include <string_view>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/supervisor.h"

namespace forge::sandbox::local {

/// The whole output of a command, in arrival order, in a file inside the sandbox, written there by a process of the job's user. It costs
/// nothing but memory until the output is longer than what is kept. A sandbox that hinders the writing only loses the file.
class Spool {
 public:
  static constexpr std::size_t kMaxBytes = 64 << 20;

  Spool(const Supervisor& supervisor, std::string path) : supervisor_(supervisor), path_(std::move(path)) {}

  /// `cut`: something has been left out of what is kept, so that the file is needed now.
  void add(std::string_view piece, bool cut);
  /// Completes the file; its path inside, or "" when there is none.
  std::string finish();

 private:
  void open();
  void write(std::string_view piece);

  const Supervisor& supervisor_;
  std::string path_;
  std::string early_;  // until the file is needed
  std::size_t written_ = 0;
  bool failed_ = false;
  UniqueFd data_;
  UniqueFd status_;
};

}  // namespace forge::sandbox::local
