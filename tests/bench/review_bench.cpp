#include "tests/bench/review_bench.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/review_json.h"
#include "orchestrator/jobs/service.h"
#include "tests/bench/samples.h"
#include "tests/support/dummy_sandbox.h"
#include "tests/support/fake_adapter.h"
#include "tests/support/paths.h"
#include "tests/support/temp_repo.h"
#include "tests/support/with_store.h"

namespace forge::bench {
namespace {

constexpr int kReviewedFiles = 20;
constexpr int kHunksPerReviewedFile = 100;
constexpr std::size_t kReviewedHunks = std::size_t{kReviewedFiles} * kHunksPerReviewedFile;
constexpr int kLinesPerHunk = 16;  // far enough apart that no two become one; each hunk is 6 lines of context, 2 old and 2 new ones
constexpr int kReviewRounds = 30;

const Principal kReviewer{"bench", Role::admin, true};

std::string name_of_file(int file) { return fmt::format("src/part_{:02}.txt", file); }

std::string content_of(int file, bool changed) {
  std::string text;
  for (int line = 0; line < kHunksPerReviewedFile * kLinesPerHunk; ++line) {
    const bool other = changed && (line % kLinesPerHunk == 8 || line % kLinesPerHunk == 9);
    text += fmt::format("{} line {} of part {}\n", other ? "changed" : "original", line, file);
  }
  return text;
}

/// A job with one ended run, in front of all real parts but the sandbox.
class Desk : test::WithStore<SystemClock> {
 public:
  Desk() {
    for (int file = 0; file < kReviewedFiles; ++file) repo_.write(name_of_file(file), content_of(file, false));
    repo_.commit("first");
    const auto listening = service_->subscribe([this](const JobId&, const TraceEvent& event) {
      if (event.type != TraceType::terminal) return;
      auto ended = ended_.lock();
      *ended = true;
      ended.notify_all();
    });
    JobSpec spec;
    spec.repository = repo_.str();
    spec.task = "change it";
    spec.adapter = "fake";
    spec.model = "fake/model";
    spec.driver = "dummy";
    job_ = service_->create(kReviewer, spec, true).id.str();
    ended_.lock().wait({}, [](bool ended) { return ended; });
  }

  /// As the door answers: also the JSON is made.
  Review load() {
    Review review = service_->reviews().review(kReviewer, job_, 0, Stop());
    bytes_ = to_json(review).dump().size();
    return review;
  }
  /// Every `step`th hunk from `first` on gets a verdict.
  void patch(const Review& review, std::size_t first, std::size_t step, HunkVerdict verdict) {
    ReviewEdit edit;
    std::size_t index = 0;
    for (const ReviewedFile& file : review.files)
      for (const ReviewedHunk& hunk : file.hunks)
        if (index++ % step == first) edit.marks.push_back({hunk.id, verdict, "as measured"});
    bytes_ = to_json(service_->reviews().edit(kReviewer, job_, 0, review.revision, edit, Stop())).dump().size();
  }
  void apply(bool push) { service_->reviews().apply(kReviewer, job_, 0, {.revision = load().revision, .push = push}, Stop()); }
  Run run() { return service_->run(job_, 0); }
  std::size_t bytes() const { return bytes_; }
  test::TempRepo& repo() { return repo_; }
  std::string accepted_patch() { return service_->reviews().patch(job_, 0, PatchPart::accepted, Stop()); }

 private:
  static adapters::AgentResult play(const adapters::RunContext& context, const std::string&, const Stop& stop) {
    for (int file = 0; file < kReviewedFiles; ++file) context.sandbox.write_file(name_of_file(file), content_of(file, true), stop);
    return {.reason = Reason::completed, .summary = "changed", .error = {}};
  }

  test::TempRepo repo_;
  test::FakeAdapter adapter_{play};
  test::DummyDriver driver_;
  std::unique_ptr<git::RepositoryCache> git_ = git::open_repository_cache(
      {.directory = dir_.str(), .helper_program = test::built_program("forge"), .credentials = {}, .log = *log_});
  Guarded<bool> ended_;
  std::unique_ptr<jobs::Service> service_ = jobs::make_service({.store = *store_,
                                                                .git = *git_,
                                                                .drivers = {{"dummy", &driver_}},
                                                                .adapters = {&adapter_},
                                                                .templates = {{"base", {}}},
                                                                .clock = clock_,
                                                                .log = *log_,
                                                                .queue = {}});
  std::string job_;
  std::size_t bytes_ = 0;
};

template <typename Body>
Samples timed(int rounds, Body&& body) {
  Samples samples;
  for (int i = 0; i < rounds; ++i) {
    const auto started = SteadyClock::now();
    body();
    samples.add(SteadyClock::now() - started);
  }
  return samples;
}

std::string row(const char* what, const Samples& samples) {
  return fmt::format("review: {:<34} p50 {:7.1f} ms  p95 {:7.1f} ms\n", what, samples.p50(), samples.p95());
}

}  // namespace

void bench_review(std::ostream& out) {
  Desk desk;
  out << row("first load (cuts the diff)", timed(1, [&] { desk.load(); }));
  const Samples loads = timed(kReviewRounds, [&] { desk.load(); });
  out << row("load, 2,000 hunks", loads) << fmt::format("review: the answer                         {:7} KiB\n", desk.bytes() >> 10);
  std::size_t at = 0;
  Samples patches;
  for (int i = 0; i < kReviewRounds; ++i) {
    const Review seen = desk.load();
    patches.add_all(timed(1, [&] { desk.patch(seen, at++, kReviewedHunks, HunkVerdict::accept); }));
  }
  out << row("PATCH of one verdict", patches);
  const Review seen = desk.load();
  out << row("PATCH of 2,000 verdicts", timed(1, [&] { desk.patch(seen, 0, 1, HunkVerdict::reject); }));
  desk.patch(desk.load(), 0, 2, HunkVerdict::accept);
  const Samples applies = timed(5, [&] { desk.apply(false); });
  out << row("apply of 1,000 hunks, no push", applies) << row("the same with its push", timed(3, [&] { desk.apply(true); }));

  const Run run = desk.run();
  const std::string patch = desk.accepted_patch();
  test::write_file(desk.repo().str() + "/.git/accepted.patch", patch);
  const Samples git_diffs = timed(5, [&] { desk.repo().git({"diff", "--no-ext-diff", run.base_commit, run.branch}); });
  const Samples git_applies = timed(5, [&] {
    desk.repo().git({"read-tree", run.base_commit});
    desk.repo().git({"apply", "--cached", ".git/accepted.patch"});
    desk.repo().git({"write-tree"});
  });
  out << row("anchor: git diff, as a process", git_diffs) << row("anchor: read-tree, apply, write-tree", git_applies);
  out << fmt::format("review: load / git diff {:.2f}, apply / git's three {:.2f}\n", loads.p50() / git_diffs.p50(),
                     applies.p50() / git_applies.p50());
}

}  // namespace forge::bench
