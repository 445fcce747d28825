#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "orchestrator/base/process.h"

namespace forge::functional {

/// Longer than anything takes in a working program, also on a busy machine and under a sanitizer; shorter than ctest's own limit.
inline Stop patience() { return Stop::after(std::chrono::seconds(60)); }

/// What a program said until it ended.
struct Said {
  Exit exit;
  std::string out;
  std::string err;
  /// As a shell tells it: 128 + n when signal n killed it.
  int status() const { return exit.code ? *exit.code : 128 + exit.signal.value_or(0); }
};

/// A running program whose output is collected while it runs. Destroying it kills its process group.
class Program {
 public:
  /// `options.fds` must not name 0, 1 or 2.
  explicit Program(SpawnOptions options, const std::string& input = {});
  ~Program();
  Program(Program&&) noexcept;

  pid_t pid() const;
  /// To the whole process group, as a terminal does.
  void signal(int number);
  /// Waits until standard output holds `text`; returns all of it so far. Throws when the program ends first.
  std::string wait_out(std::string_view text);
  std::string wait_err(std::string_view text);
  /// Waits for the end.
  Said wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forge::functional
