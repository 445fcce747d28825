#include "tools/read_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/base/text.h"
#include "tools/excerpt.h"
#include "tools/registry.h"
#include "tools/workspace_file.h"

namespace forge::tools {
namespace {

constexpr const char* kReadDescription =
    "Read a text file. Shows at most 2,000 lines or 50 KiB and says with which offset to go on. Lines are shown as they are, without "
    "numbers.";

constexpr const char* kReadSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "required": ["path"],
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "Relative to /workspace, or absolute"},
    "offset": {"type": "integer", "minimum": 1, "description": "First line to show, counted from 1"},
    "limit": {"type": "integer", "minimum": 1, "description": "Lines to show at most"}
  }
})";

// git looks at as much when it decides whether a file is binary.
constexpr std::size_t kBinaryProbeBytes = 8000;
// Latin-1 prose has a few percent of such bytes; compressed data far more.
constexpr std::size_t kMostBrokenPercent = 10;

/// `clean` is `content` as text, with its replacements counted.
bool is_binary(std::string_view content, const CleanText& clean) {
  return content.substr(0, kBinaryProbeBytes).find('\0') != std::string_view::npos ||
         clean.replaced * 100 > content.size() * kMostBrokenPercent;
}

/// Where line `number` (1-based) begins; npos when there are fewer lines.
std::size_t begin_of_line(std::string_view text, std::size_t number) {
  std::size_t at = 0;
  for (std::size_t line = 1; line < number; ++line) {
    at = text.find('\n', at);
    if (at == std::string_view::npos || ++at == text.size()) return std::string_view::npos;
  }
  return at;
}

/// Shown lines end in LF; the file keeps its own.
std::string without_carriage_returns(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') shown += text[i];
  return shown;
}

/// Half a line would look like a whole one: the model gets the command that shows a part instead.
std::string too_long_line(const std::string& path, std::size_t line) {
  return fmt::format("Line {} alone is over {} bytes. Take a slice of it with bash, for example: sed -n {}p {} | cut -c 1-2000", line,
                     kMaxShownBytes, line, shell_word(path));
}

/// What was asked for: the path as the model wrote it, the first line, the number of lines.
struct View {
  const std::string& path;
  std::size_t offset;
  std::size_t limit;
};

/// What the reader must know beside the lines; begins a line of its own.
std::string notes(const std::string& content, const CleanText& clean, const View& view, const Page& page, std::size_t all_lines) {
  std::string text;
  const std::size_t last = view.offset + page.lines - 1;
  if (!page.complete) {
    text += fmt::format("[lines {}-{} of {}; go on with offset {}]\n", view.offset, last, all_lines, last + 1);
  } else if (view.offset > 1) {
    text += fmt::format("[lines {}-{} of {}]\n", view.offset, last, all_lines);
  }
  if (clean.replaced > 0) text += fmt::format("[{} bytes are not UTF-8 text and are shown as \xEF\xBF\xBD]\n", clean.replaced);
  if (content.find("\r\n") != std::string::npos) text += "[lines of this file end in CRLF; edit_file takes care of that]\n";
  const bool needs_newline = !text.empty() && page.complete && !content.ends_with('\n');
  return needs_newline ? "\n" + text : text;
}

ToolOutcome show(const std::string& content, const View& view) {
  ToolOutcome outcome;
  outcome.bytes = static_cast<std::int64_t>(content.size());
  const CleanText clean = to_utf8(content);
  if (is_binary(content, clean))
    return failed(fmt::format("'{}' is a binary file of {} bytes: look at it with bash (file, xxd, strings).", view.path, content.size()));
  if (content.empty()) {
    outcome.text = "(an empty file)";
    return outcome;
  }
  const std::size_t all_lines = split_lines(clean.text).size();
  const std::size_t begin = begin_of_line(clean.text, view.offset);
  if (begin == std::string_view::npos)
    return failed(fmt::format("'{}' has {} lines: there is no line {}.", view.path, all_lines, view.offset));
  std::string_view rest = std::string_view(clean.text).substr(begin);
  if (begin == 0 && rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  const Page page = first_page(rest, std::min(view.limit, kMaxShownLines), kMaxShownBytes);
  if (page.lines == 0) return failed(too_long_line(view.path, view.offset));

  outcome.text = without_carriage_returns(rest.substr(0, page.bytes));
  outcome.truncated = !page.complete || begin > 0;
  outcome.text += notes(content, clean, view, page, all_lines);
  return outcome;
}
class ReadFile final : public Tool {
 public:
  explicit ReadFile(std::vector<Caller> callers) : spec_{"read_file", kReadDescription, kReadSchema, Access::reads, std::move(callers)} {}
  const ToolSpec& spec() const override { return spec_; }

  ToolOutcome call(const nlohmann::json& arguments, const ToolContext& context) const override {
    const auto& path = arguments.at("path").get_ref<const std::string&>();
    return on_file(path, [&](const std::string& inside) {
      const View view{path, arguments.value("offset", std::size_t{1}), arguments.value("limit", kMaxShownLines)};
      return show(context.sandbox->read_file(inside, kMaxFileBytes, context.stop), view);
    });
  }

 private:
  ToolSpec spec_;
};

}  // namespace

std::unique_ptr<Tool> make_read_file(std::vector<Caller> callers) { return std::make_unique<ReadFile>(std::move(callers)); }

}  // namespace forge::tools
