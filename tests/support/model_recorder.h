#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/models/model.h"

namespace forge::test {

/// Keeps what a model told while it answered.
class ModelRecorder final : public models::ModelObserver {
 public:
  void text_delta(std::string_view piece) override { text += piece; }
  void thinking_delta(std::string_view piece) override { thinking += piece; }
  /// As a user's screen does: what the dropped attempt said is void.
  void retrying(const Retry& retry) override {
    retries.push_back(retry);
    text.clear();
    thinking.clear();
  }
  void wasted(const Usage& usage) override { waste.push_back(usage); }

  std::string text;
  std::string thinking;
  std::vector<Retry> retries;
  std::vector<Usage> waste;
};

}  // namespace forge::test
