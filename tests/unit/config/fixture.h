#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/config/config.h"
#include "tests/support/temp_dir.h"

namespace forge::config {

/// A data directory with a forge.toml, an environment and flags of its own: nothing of the machine gets in.
class ConfigTest : public testing::Test {
 protected:
  void file(std::string_view text) { test::write_file(data() + "/forge.toml", text); }
  void env(const std::string& name, const std::string& value) { environment_[name] = value; }
  void flag(const std::string& key, const std::string& value, const std::string& name) { overrides_.push_back({key, value, name}); }
  std::string data() const { return directory_.str(); }

  Config load() const { return load_config({.data_dir = data(), .overrides = overrides_, .environment = environment_}); }

  /// The whole error: message, a line break and the hint when there is one.
  std::string failure() const {
    try {
      load();
      return "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      field_ = e.field();
      return e.hint().empty() ? e.client_text() : e.client_text() + "\n" + e.hint();
    }
  }

  test::TempDir directory_;
  std::map<std::string, std::string> environment_{{"HOME", "/home/somebody"}};
  std::vector<Override> overrides_;
  mutable std::string field_;
};

}  // namespace forge::config
