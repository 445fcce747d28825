#include "orchestrator/jobs/review_source.h"

#include <algorithm>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/review_control.h"
#include "orchestrator/jobs/carry_over.h"

namespace forge::jobs {
namespace {

std::string without_carriage_returns(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 >= text.size() || text[i + 1] != '\n') plain += text[i];
  return plain;
}

}  // namespace

const std::string& commit_of(const Run& run, DiffSide side) { return side == DiffSide::base ? run.base_commit : run.head_commit; }

std::pair<Job, Run> ReviewSource::ended_run(const std::string& id, int number) {
  Job job = store_.job(id);
  if (number == 0) number = job.last_run ? job.last_run->number : 0;
  auto run = number == 0 ? std::nullopt : store_.run(job.id, number);
  if (!run)
    throw public_failure(ErrorCode::not_found, number == 0 ? "the job has no run yet" : "the job has no run " + std::to_string(number));
  const std::string name = "run " + std::to_string(number);
  if (!is_final(run->state)) throw public_failure(ErrorCode::conflict, name + " has not ended: it is " + std::string(name_of(run->state)));
  if (run->head_commit.empty()) throw public_failure(ErrorCode::conflict, name + " left no changes to review");
  return {std::move(job), std::move(*run)};
}

ReviewedRun ReviewSource::find(const std::string& id, int number, const Stop& stop) {
  auto [job, run] = ended_run(id, number);
  auto changes = diff(job, run, stop);
  return {std::move(job), std::move(run), std::move(changes)};
}

std::shared_ptr<const CanonicalDiff> ReviewSource::diff(const Job& job, const Run& run, const Stop& stop) {
  {
    auto kept = kept_.lock();
    const auto found = std::find_if(kept->begin(), kept->end(), [&](const KeptDiff& one) { return one.first == run.id; });
    if (found != kept->end()) {
      std::rotate(kept->begin(), found, found + 1);
      return kept->front().second;
    }
  }
  auto made = std::make_shared<const CanonicalDiff>(git_.compare(job.spec.repository, run.base_commit, run.head_commit, stop));
  auto kept = kept_.lock();
  kept->emplace_front(run.id, made);
  if (kept->size() > kKeptDiffs) kept->pop_back();
  return made;
}

store::ReviewRow ReviewSource::open(const ReviewedRun& reviewed, const Stop& stop) {
  if (auto row = store_.review(reviewed.run.id)) return std::move(*row);
  store_.open_review(reviewed.run.id, beginning(reviewed, stop));
  auto row = store_.review(reviewed.run.id);
  if (!row) throw Error(ErrorCode::internal, "a review that was just made is not there");
  return std::move(*row);
}

store::ReviewBeginning ReviewSource::beginning(const ReviewedRun& reviewed, const Stop& stop) {
  std::vector<Run> runs = store_.runs(reviewed.job.id);
  std::erase_if(runs, [&](const Run& run) { return run.number >= reviewed.run.number || run.head_commit.empty(); });
  std::reverse(runs.begin(), runs.end());
  // A follow-up answers the review of the run it goes on from, whatever was tried in between.
  std::stable_partition(runs.begin(), runs.end(), [&](const Run& run) { return run.number == reviewed.run.from_run; });
  // Comments on one file usually stand together: the last file is kept, so that it is read once.
  std::optional<std::pair<DiffSide, std::string>> read_last;
  std::optional<std::string> last;
  const auto read = [&](DiffSide side, const std::string& path) {
    if (read_last != std::pair(side, path)) last = text_if_any(reviewed, side, path, stop);
    read_last = {side, path};
    return last;
  };
  for (const Run& run : runs) {
    const auto row = store_.review(run.id);
    if (!row) continue;
    const auto earlier = kept_diff(reviewed.job, run, stop);
    return carried_over({run.number, *earlier, *row, store_.all_viewed(run.id)}, *reviewed.diff, read);
  }
  return {};
}

std::shared_ptr<const CanonicalDiff> ReviewSource::kept_diff(const Job& job, const Run& run, const Stop& stop) {
  try {
    return diff(job, run, stop);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::not_found) throw;
    return std::make_shared<const CanonicalDiff>();
  }
}

std::optional<std::string> ReviewSource::text_if_any(const ReviewedRun& reviewed, DiffSide side, const std::string& path,
                                                     const Stop& stop) {
  try {
    return text(reviewed, side, path, stop);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::cancelled || e.code() == ErrorCode::timed_out) throw;
    return std::nullopt;
  }
}

std::string ReviewSource::text(const ReviewedRun& reviewed, DiffSide side, const std::string& path, const Stop& stop) {
  const auto file = git_.file(reviewed.job.spec.repository, commit_of(reviewed.run, side), path, kFileViewBytes, stop);
  if (file.content.find('\0') != std::string::npos) throw public_failure(ErrorCode::invalid_argument, "the file is binary");
  return to_utf8(without_carriage_returns(file.content)).text;
}

}  // namespace forge::jobs
