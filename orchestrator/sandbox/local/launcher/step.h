#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "orchestrator/base/error.h"

namespace forge::sandbox::local::launcher {

/// A step of the set-up that failed, with errno: what Forge turns into a reason and a remedy.
class StepFailed : public std::exception {
 public:
  StepFailed(std::string step, int errno_value) : step_(std::move(step)), errno_(errno_value) {}
  const char* what() const noexcept override { return step_.c_str(); }
  int error() const { return errno_; }

 private:
  std::string step_;
  int errno_;
};

/// Throws StepFailed with errno when `result` is negative.
inline long must(long result, std::string_view step) {
  if (result < 0) throw StepFailed(std::string(step), errno);
  return result;
}

}  // namespace forge::sandbox::local::launcher
