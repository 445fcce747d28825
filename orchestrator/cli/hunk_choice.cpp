#include "orchestrator/cli/hunk_choice.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "orchestrator/base/error.h"
#include "orchestrator/base/numbers.h"
#include "orchestrator/cli/console.h"
#include "orchestrator/domain/review_json.h"

namespace forge::cli {
namespace {

constexpr std::size_t kShortestPrefix = 6;

/// How closely a hunk was named.
enum class Closeness { all, file, hunk };

/// A hunk of the list, and what was said of it.
struct Listed {
  const ReviewedFile* file = nullptr;
  const ReviewedHunk* hunk = nullptr;
  bool named = false;
  Closeness closeness = Closeness::all;
  std::optional<HunkVerdict> verdict;
};

struct Named {
  Closeness closeness = Closeness::all;
  std::vector<std::size_t> places;  ///< in the list
};

std::vector<Listed> listed(const Review& review) {
  std::vector<Listed> list;
  for (const ReviewedFile& file : review.files)
    for (const ReviewedHunk& hunk : file.hunks) list.push_back({.file = &file, .hunk = &hunk, .verdict = {}});
  return list;
}

template <typename Fits>
std::vector<std::size_t> places_of(const std::vector<Listed>& list, Fits&& fits) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (fits(list[i])) places.push_back(i);
  return places;
}

/// A number of the list, from 1; 0 for anything else.
std::size_t list_number(const std::string& name, std::size_t count) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() && number <= count ? number : 0;
}

/// Numbers go before files, which may be called as they like: "./3" is always a file.
Named resolve(const std::vector<Listed>& list, const std::string& name) {
  if (name == "all") return {Closeness::all, places_of(list, [](const Listed&) { return true; })};
  if (const std::size_t number = list_number(name, list.size()); number != 0) return {Closeness::hunk, {number - 1}};
  const std::string path = name.starts_with("./") ? name.substr(2) : name;
  if (auto places = places_of(list, [&](const Listed& one) { return one.file->path == path; }); !places.empty())
    return {Closeness::file, std::move(places)};
  std::vector<std::size_t> places;
  if (name.size() >= kShortestPrefix) places = places_of(list, [&](const Listed& one) { return one.hunk->id.starts_with(name); });
  if (places.size() > 1)
    throw bad_input("", fmt::format("\"{}\" begins the ids of several hunks", name), "give more digits, or the number");
  if (places.empty())
    throw bad_input("", fmt::format("the review has no hunk or file \"{}\"", one_line(name, 120)),
                    fmt::format("a number from 1 to {}, the beginning of an id, a file, or all", list.size()));
  return {Closeness::hunk, std::move(places)};
}

void say(std::vector<Listed>& list, const std::string& name, std::optional<HunkVerdict> verdict) {
  const Named named = resolve(list, name);
  for (const std::size_t place : named.places) {
    Listed& one = list[place];
    if (one.named && one.closeness > named.closeness) continue;
    if (one.named && one.closeness == named.closeness && one.verdict != verdict)
      throw bad_input("", fmt::format("hunk {} cannot be two things at once: \"{}\" names it again", place + 1, one_line(name, 120)));
    one.named = true;
    one.closeness = named.closeness;
    one.verdict = verdict;
  }
}

bool is_so_already(const Listed& one, const std::string& reason) {
  if (!one.verdict) return !one.hunk->mark;
  if (verdict_of(*one.hunk) != one.verdict) return false;
  return *one.verdict == HunkVerdict::accept || reason.empty() || one.hunk->mark->reason == reason;
}

}  // namespace

std::vector<ReviewEdit::Mark> chosen_marks(const Review& review, const HunkChoice& choice) {
  std::vector<Listed> list = listed(review);
  for (const auto& name : choice.accept) say(list, name, HunkVerdict::accept);
  for (const auto& name : choice.reject) say(list, name, HunkVerdict::reject);
  for (const auto& name : choice.undecide) say(list, name, {});
  std::vector<ReviewEdit::Mark> marks;
  for (const Listed& one : list) {
    if (!one.named || is_so_already(one, choice.reason)) continue;
    const bool rejected = one.verdict == HunkVerdict::reject;
    marks.push_back({.hunk_id = one.hunk->id, .verdict = one.verdict, .reason = rejected ? choice.reason : ""});
  }
  return marks;
}

}  // namespace forge::cli
