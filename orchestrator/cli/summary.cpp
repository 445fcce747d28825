#include "orchestrator/cli/summary.h"

#include <fmt/format.h>

#include "orchestrator/base/numbers.h"
#include "orchestrator/base/text.h"

namespace forge::cli {
namespace {

// A hostile tree can make hundreds; the trace has them all.
constexpr std::size_t kShownFindings = 10;
constexpr std::size_t kSummaryLines = 12;

std::string state_in_colour(JobState state, const Paint& paint) {
  const std::string_view name = name_of(state);
  if (state == JobState::succeeded) return paint.green(name);
  if (state == JobState::failed) return paint.red(name);
  return state == JobState::no_changes || state == JobState::cancelled ? paint.yellow(name) : paint.cyan(name);
}

std::string fact(std::string_view name, const std::string& text) { return fmt::format("  {} {}\n", padded(name, 9), text); }

/// The reason is named where it says more than the state.
std::string headline(const Run& run, const Paint& paint) {
  std::string line = paint.bold("run " + std::to_string(run.number)) + " " + state_in_colour(run.state, paint);
  if (run.reason && name_of(*run.reason) != name_of(run.state) && *run.reason != Reason::completed)
    line += fmt::format(" ({})", name_of(*run.reason));
  if (run.started_ms != 0 && run.ended_ms >= run.started_ms) line += " in " + human_duration_ms(run.ended_ms - run.started_ms);
  return line + "\n";
}

std::string indented(std::string_view line) {
  const std::string clean = harmless(line);
  return clean.empty() ? "\n" : "  " + clean + "\n";
}

/// Why it failed and what the person can do.
std::string failure(const Run& run) {
  if (run.state != JobState::failed && run.state != JobState::cancelled) return "";
  std::string text;
  for (const auto line : split_lines(trim(run.error))) text += indented(line);
  if (run.reason && run.error.find(explain(*run.reason)) == std::string::npos) text += "  " + std::string(explain(*run.reason)) + "\n";
  return text;
}

std::string words(const Run& run) {
  std::string text;
  const auto lines = split_lines(trim(run.summary));
  for (std::size_t i = 0; i < lines.size() && i < kSummaryLines; ++i) text += indented(lines[i]);
  if (lines.size() > kSummaryLines) text += fmt::format("  ... {}\n", counted(lines.size() - kSummaryLines, "more line"));
  return text;
}

/// Unpriced is not free: it is said in words. A run knows its tokens and not its calls: a script that says no usage was called all the
/// same.
std::string cost_line(const Run& run) {
  const Usage& usage = run.usage;
  if (usage.total() == 0) return format_usd(run.cost_nano_usd.value_or(0)) + ", no tokens counted";
  return fmt::format("{} ({} in, {} out, {} cache read, {} cache write)", format_usd(run.cost_nano_usd), grouped_digits(usage.input),
                     grouped_digits(usage.output), grouped_digits(usage.cache_read), grouped_digits(usage.cache_write));
}

std::string branch_line(const Run& run, const Paint& paint) {
  return fmt::format("{}, commit {}{}", paint.bold(run.branch), run.head_commit.substr(0, 10), run.pushed ? ", pushed" : ", not pushed");
}

std::string facts(const Run& run, const Paint& paint) {
  std::string text;
  if (!run.head_commit.empty()) {
    text += fact("diff",
                 fmt::format("{}, {} {}", counted(run.diff_stat.files, "file"), paint.green("+" + grouped_digits(run.diff_stat.insertions)),
                             paint.red("-" + grouped_digits(run.diff_stat.deletions))));
    text += fact("branch", branch_line(run, paint));
  }
  text += fact("cost", cost_line(run));
  for (const auto& check : run.verify)
    text += fact("verify", fmt::format("{}: {}", one_line(check.command, 80),
                                       check.exit_code == 0 ? paint.green("exit 0") : paint.red(fmt::format("exit {}", check.exit_code))));
  for (std::size_t i = 0; i < run.findings.size() && i < kShownFindings; ++i) text += fact("finding", one_line(run.findings[i], 160));
  if (run.findings.size() > kShownFindings) text += fact("", fmt::format("... {} more in the trace", run.findings.size() - kShownFindings));
  for (const auto& limit : run.unenforced) text += fact("warning", "not enforced: " + one_line(limit, 160));
  return text;
}

/// A word of a command that a person may paste.
std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@%+=,") == word.npos)
    return word;
  std::string text = "'";
  for (const char c : harmless(word)) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// Commands to paste, with this job's names in them.
std::string see_more(const Job& job, const Run& run) {
  const std::string id = short_id(job.id);
  const std::string& repository = job.spec.repository;
  const bool local = repository.starts_with('/');
  if (is_live(run.state)) return "\n  forge show " + id + " --follow\n";
  std::string text = "\n  forge show " + id + (run.head_commit.empty() ? " --trace" : " --diff") + "          or --trace, --cost, --json\n";
  if (run.review == ReviewStatus::waiting) text += "  forge review " + id + "               accept, reject, apply, send back\n";
  if (run.pushed && local) text += fmt::format("  git -C {} switch {}\n", quoted(repository), run.branch);
  if (run.pushed && !local) text += fmt::format("  git fetch {} {} && git checkout FETCH_HEAD\n", quoted(repository), run.branch);
  if (!run.head_commit.empty()) text += fmt::format("  forge apply {} --repo {}\n", id, local ? quoted(repository) : "DIR");
  if (run.state != JobState::succeeded) text += fmt::format("  forge retry {}\n", id);
  return text;
}

std::string pad_left(const std::string& text, std::size_t columns) {
  const std::size_t have = columns_of(text);
  return std::string(have < columns ? columns - have : 0, ' ') + text;
}

}  // namespace

std::string short_id(const JobId& id) { return id.str().substr(0, kShortIdLength); }

std::string age(std::int64_t then_ms, std::int64_t now_ms) {
  constexpr std::int64_t kHour = 60;
  constexpr std::int64_t kDay = 24 * kHour;
  const std::int64_t minutes = (now_ms - then_ms) / 60'000;
  if (minutes < 1) return "just now";
  if (minutes < kHour) return fmt::format("{} min", minutes);
  if (minutes < 2 * kDay) return fmt::format("{} h", minutes / kHour);
  return fmt::format("{} d", minutes / kDay);
}

std::string run_summary(const Job& job, const Run& run, const Paint& paint) {
  std::string text = headline(run, paint) + failure(run) + words(run);
  return text + facts(run, paint) + see_more(job, run);
}

std::string jobs_table(const JobPage& page, std::int64_t now_ms, const Paint& paint, std::size_t width) {
  if (page.items.empty()) return "no jobs\n";
  std::string text =
      paint.dim(fmt::format("{} {} {} {}  {}\n", padded("ID", 10), padded("STATE", 11), padded("AGE", 9), pad_left("COST", 11), "TASK"));
  for (const Job& job : page.items) {
    const std::string state = padded(name_of(job.state), 11);
    const std::string cost = job.last_run ? format_usd(job.last_run->cost_nano_usd) : "-";
    const std::string title = job.spec.title.empty() ? default_title(job.spec.task) : job.spec.title;
    text += fmt::format("{} {} {} {}  {}\n", padded(short_id(job.id), 10),
                        job.state == JobState::failed      ? paint.red(state)
                        : job.state == JobState::succeeded ? paint.green(state)
                                                           : state,
                        padded(age(job.created_ms, now_ms), 9), pad_left(cost, 11), one_line(title, width > 60 ? width - 46 : 20));
  }
  if (!page.next_cursor.empty()) text += paint.dim("older ones: --cursor " + page.next_cursor + "\n");
  return text;
}

std::string cost_table(const RunCost& cost) {
  std::string text = fmt::format("{} {} {} {} {} {} {}\n", padded("MODEL", 32), pad_left("REQUESTS", 8), pad_left("INPUT", 12),
                                 pad_left("OUTPUT", 12), pad_left("CACHE READ", 12), pad_left("CACHE WRITE", 12), pad_left("COST", 14));
  const auto row = [&](const std::string& name, const std::string& requests, const Usage& usage, std::optional<std::int64_t> nano_usd) {
    text += fmt::format("{} {} {} {} {} {} {}\n", padded(one_line(name, 32), 32), pad_left(requests, 8),
                        pad_left(grouped_digits(usage.input), 12), pad_left(grouped_digits(usage.output), 12),
                        pad_left(grouped_digits(usage.cache_read), 12), pad_left(grouped_digits(usage.cache_write), 12),
                        pad_left(format_usd(nano_usd), 14));
  };
  std::int64_t requests = 0;
  for (const ModelCost& model : cost.models) {
    requests += model.requests;
    row(model.model, grouped_digits(model.requests), model.usage, model.cost_nano_usd);
  }
  row("total", grouped_digits(requests), cost.usage, cost.models.empty() ? std::optional<std::int64_t>(0) : cost.cost_nano_usd);
  if (cost.reported_cost_nano_usd) text += "the agent itself says " + format_usd(cost.reported_cost_nano_usd) + "\n";
  if (cost.budget_nano_usd) text += "budget " + format_usd(cost.budget_nano_usd) + "\n";
  return text;
}

}  // namespace forge::cli
