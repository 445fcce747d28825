#include "orchestrator/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/base/text.h"

namespace forge {
namespace {

std::string_view name_of_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warn: return "warn";
    case LogLevel::error: return "error";
  }
  return "error";
}

/// RFC 3339 in UTC with milliseconds.
std::string timestamp() {
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::system_clock;
  const long long ms = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec, ms % 1000);
}

/// A JSON string in which no terminal finds a control character: JSON itself leaves DEL and U+0080..U+009F as they are.
std::string json_string(std::string_view text) {
  const std::string raw = dump_json(nlohmann::json(std::string(text)));
  std::string safe;
  safe.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    const auto next = i + 1 < raw.size() ? static_cast<unsigned char>(raw[i + 1]) : 0U;
    if (byte == 0x7f) {
      safe += "\\u007f";
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      safe += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      safe += raw[i];
    }
  }
  return safe;
}

class StderrLog final : public Log {
 public:
  StderrLog(LogLevel least, const Redactor* redactor)
      : least_(least), redactor_(redactor), lines_("forge", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    // spdlog gives the lock and the sink; the line is ours from brace to brace.
    lines_.set_pattern("%v");
    lines_.set_level(spdlog::level::trace);
  }

  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) override {
    if (level < least_) return;
    std::string line = fmt::format(R"({{"ts":"{}","level":"{}","msg":{})", timestamp(), name_of_level(level), safe(message));
    for (const LogField& field : fields) line += fmt::format(",{}:{}", json_string(field.key), safe(field.text));
    line += '}';
    lines_.log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  // Redacted before it is quoted: escapes would hide a secret that holds a quote or a line break.
  std::string safe(std::string_view text) const { return redactor_ == nullptr ? json_string(text) : json_string(redactor_->apply(text)); }

  LogLevel least_;
  const Redactor* redactor_;
  spdlog::logger lines_;
};

class NullLog final : public Log {
 public:
  void write(LogLevel, std::string_view, std::initializer_list<LogField>) override {}
};

}  // namespace

std::unique_ptr<Log> make_stderr_log(LogLevel least, const Redactor* redactor) { return std::make_unique<StderrLog>(least, redactor); }

std::unique_ptr<Log> make_null_log() { return std::make_unique<NullLog>(); }

}  // namespace forge
