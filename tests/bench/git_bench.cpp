#include "tests/bench/git_bench.h"

#include <chrono>
#include <filesystem>
#include <iomanip>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "orchestrator/base/log.h"
#include "orchestrator/git/repository_cache.h"
#include "tests/bench/samples.h"
#include "tests/support/temp_dir.h"
#include "tests/support/temp_repo.h"

namespace forge::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 10'000;  // as the output says
constexpr int kFilesPerCommit = 20;
constexpr int kTreeRounds = 7;

/// 500 directories of 20 files, 200 bytes to 8 KiB each, packed as a repository is that lives for a while.
void generate(const test::TempRepo& repo) {
  std::mt19937 random(1);
  repo.git({"config", "gc.auto", "0"});  // it would run beside the measurement
  for (int i = 0; i < kFiles; ++i) {
    std::string text;
    const std::size_t size = 200u << (random() % 6);
    for (int line = 0; text.size() < size; ++line)
      text += std::to_string(i) + " " + std::to_string(line) + " " + std::to_string(random()) + "\n";
    repo.write("d" + std::to_string(i % 25) + "/s" + std::to_string(i / 25 % 20) + "/f" + std::to_string(i) + ".txt", text);
  }
  repo.commit("generated");
  repo.git({"gc", "--quiet"});
}

void commit_some_changes(const test::TempRepo& repo, int round) {
  for (int i = 0; i < kFilesPerCommit; ++i) {
    const int file = (round * 997 + i * 131) % kFiles;
    repo.write("d" + std::to_string(file % 25) + "/s" + std::to_string(file / 25 % 20) + "/f" + std::to_string(file) + ".txt",
               "changed in round " + std::to_string(round) + "\n");
  }
  repo.commit("round " + std::to_string(round));
}

template <typename Body>
std::chrono::steady_clock::duration time_of(Body&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::steady_clock::now() - begin;
}

struct Series {
  const char* name;
  double goal;  // of the ratio; 0: none
  Samples samples{};
};

void print(std::ostream& out, const Series& series, const Series& anchor) {
  const double ratio = series.samples.p50() / anchor.samples.p50();
  out << "  " << std::left << std::setw(34) << series.name << std::right << std::fixed << std::setprecision(1) << std::setw(9)
      << series.samples.p50() << std::setw(9) << series.samples.p95() << std::setprecision(2) << std::setw(8) << ratio;
  if (series.goal > 0) out << "   goal at most " << series.goal << (ratio <= series.goal ? ", met" : ", MISSED");
  out << "\n";
}

}  // namespace

// Rounds are interleaved, and nothing is removed until the end: on ext4 without a journal, inodes freed a moment ago make the next ones
// many times dearer, for both sides.
void bench_work_tree(std::ostream& out) {
  const test::TempRepo repo;
  generate(repo);
  const test::TempDir place;
  const std::unique_ptr<Log> log = make_null_log();
  const auto open = [&](const std::string& name) {
    return git::open_repository_cache({.directory = (place / name).string(), .helper_program = "/bin/false", .log = *log});
  };
  const auto work_tree = [&](git::RepositoryCache& cache) {
    cache.checkout(cache.fetch(repo.str(), "", Stop::after(std::chrono::minutes(2))), Stop::after(std::chrono::minutes(2)));
  };
  Series clone{"git clone", 0};
  Series ready{"commit already checked out", 0.2};
  Series fresh{"first run on a new commit", 1.2};
  Series cold{"first run on a new repository", 1.2};
  const auto cache = open("cache");
  work_tree(*cache);
  for (int round = 0; round < kTreeRounds; ++round) {
    const std::string number = std::to_string(round);
    commit_some_changes(repo, round);
    fresh.samples.add(time_of([&] { work_tree(*cache); }));
    clone.samples.add(time_of([&] { test::run_git(place.path(), {"clone", "--quiet", repo.str(), "clone" + number}); }));
    ready.samples.add(time_of([&] { work_tree(*cache); }));
    cold.samples.add(time_of([&] { work_tree(*open("cold" + number)); }));
  }
  out << "work tree of 10,000 files (" << kTreeRounds << " rounds)          p50 ms   p95 ms   ratio\n";
  for (const Series* one : {&clone, &ready, &fresh, &cold}) print(out, *one, clone);
}

}  // namespace forge::bench
