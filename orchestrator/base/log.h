#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forge {

enum class LogLevel { debug, info, warn, error };

/// One value of a log line, already text.
struct LogField {
  LogField(std::string_view name, std::string_view value) : key(name), text(value) {}
  LogField(std::string_view name, const char* value) : key(name), text(value) {}
  LogField(std::string_view name, const std::string& value) : key(name), text(value) {}
  LogField(std::string_view name, long long value) : key(name), text(std::to_string(value)) {}
  LogField(std::string_view name, unsigned long long value) : key(name), text(std::to_string(value)) {}
  LogField(std::string_view name, long value) : key(name), text(std::to_string(value)) {}
  LogField(std::string_view name, unsigned long value) : key(name), text(std::to_string(value)) {}
  LogField(std::string_view name, int value) : key(name), text(std::to_string(value)) {}
  std::string_view key;
  std::string text;
};

/// JSON lines on standard error: {"ts","level","msg",fields...}. Control characters are escaped and secrets redacted at the sink.
/// Passed down as a reference; there is no global logger.
class Log {
 public:
  virtual ~Log() = default;
  virtual void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) = 0;

  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) { write(LogLevel::debug, message, fields); }
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) { write(LogLevel::info, message, fields); }
  void warn(std::string_view message, std::initializer_list<LogField> fields = {}) { write(LogLevel::warn, message, fields); }
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) { write(LogLevel::error, message, fields); }
};

class Redactor;

/// `redactor` may be null and must outlive the log otherwise.
std::unique_ptr<Log> make_stderr_log(LogLevel least, const Redactor* redactor);
/// Writes nothing.
std::unique_ptr<Log> make_null_log();

}  // namespace forge
