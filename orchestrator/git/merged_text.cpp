#include "orchestrator/git/merged_text.h"

#include "orchestrator/base/error.h"

namespace forge::git {
namespace {

class HunkMerge {
 public:
  explicit HunkMerge(std::string_view base) : base_(lines_with_ends(base)) {}

  void add(const Hunk& hunk, bool taken) {
    const int before = hunk.lines.old_lines == 0 ? hunk.lines.old_start : hunk.lines.old_start - 1;
    copy_to(static_cast<std::size_t>(before));
    for (const std::string_view line : lines_with_ends(hunk.body)) {
      switch (line.front()) {
        case ' ': keep(head_line_++); break;
        case '-': taken ? drop() : keep(0); break;
        case '+': add_line(line.substr(1), taken); break;
        default: end_without_newline(taken); break;
      }
      last_ = line.front();
    }
  }

  std::vector<MergedLine> finish() {
    copy_to(base_.size());
    return std::move(lines_);
  }

 private:
  void drop() {
    if (at_ >= base_.size()) throw Error(ErrorCode::corrupt, "a hunk reaches past the end of its file");
    ++at_;
  }

  void keep(int head_line) {
    drop();
    lines_.push_back({base_[at_ - 1], head_line});
  }

  void copy_to(std::size_t end) {
    if (end < at_ || end > base_.size()) throw Error(ErrorCode::corrupt, "a hunk stands outside of its file");
    while (at_ < end) keep(head_line_++);
  }

  void add_line(std::string_view text, bool taken) {
    if (taken) lines_.push_back({text, head_line_});
    ++head_line_;
  }

  /// "\ No newline at end of file" speaks of the line before it; one of the base is as it is anyway.
  void end_without_newline(bool taken) {
    if (last_ == '+' && taken) lines_.back().text.remove_suffix(1);
  }

  std::vector<std::string_view> base_;
  std::vector<MergedLine> lines_;
  std::size_t at_ = 0;  // in base_
  int head_line_ = 1;   // of the next line that head has
  char last_ = ' ';
};

}  // namespace

std::vector<MergedLine> merge_hunks(std::string_view base, const FileChoice& choice) {
  HunkMerge merge(base);
  for (std::size_t i = 0; i < choice.text.size(); ++i) merge.add(*choice.text[i], choice.taken[i]);
  return merge.finish();
}

std::vector<MergedLine> head_lines(std::string_view content) {
  std::vector<MergedLine> lines;
  for (const std::string_view line : lines_with_ends(content)) lines.push_back({line, static_cast<int>(lines.size()) + 1});
  return lines;
}

std::string joined(const std::vector<MergedLine>& lines) {
  std::string text;
  for (const MergedLine& line : lines) text += line.text;
  return text;
}

std::vector<std::string_view> lines_with_ends(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

}  // namespace forge::git
