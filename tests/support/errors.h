#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "orchestrator/base/error.h"

namespace forge::test {

/// The Error that `body` throws; a failed test and nothing when it throws none.
template <typename Body>
std::optional<Error> error_of(Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

/// The code of that error as text ("not_found"), so that a mismatch reads well; "none" when nothing was thrown.
template <typename Body>
std::string code_of(Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    return std::string(name_of(error.code()));
  }
  return "none";
}

}  // namespace forge::test
