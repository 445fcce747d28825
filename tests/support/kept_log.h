#pragma once

#include <string>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/log.h"

namespace forge::test {

/// A log that remembers, as one text, and redacts nothing.
class KeptLog final : public Log {
 public:
  void write(LogLevel, std::string_view message, std::initializer_list<LogField> fields) override {
    auto text = text_.lock();
    text->append(message);
    for (const LogField& field : fields) text->append(" ").append(field.text);
    text->append("\n");
  }
  std::string text() { return *text_.lock(); }

 private:
  Guarded<std::string> text_;
};

}  // namespace forge::test
