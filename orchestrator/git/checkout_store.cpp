#include "orchestrator/git/checkout_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kUnfinished = ".new-";
constexpr std::string_view kRemoved = ".old-";
constexpr std::size_t kTreeDigits = 40;
constexpr std::size_t kNamesInNote = 5;

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string current_boot() { return std::string(trim(text_of("/proc/sys/kernel/random/boot_id"))); }

std::string unique_name(std::string_view prefix) { return std::string(prefix) + crypto::random_token(9); }

void move_path(const std::string& from, const std::string& to) { checked(::rename(from.c_str(), to.c_str()), "moving '" + from + "'"); }

/// By rename: a reader finds the old file or the new one.
void write_record(const std::string& directory, const std::string& file, const json& record) {
  const std::string temporary = directory + "/" + unique_name(kUnfinished);
  std::ofstream(temporary, std::ios::binary) << dump_json(record);
  move_path(temporary, file);
}

json record_of(const WrittenTree& written, const std::string& git_dir) {
  return {{"boot", current_boot()},           {"mirror", git_dir},           {"bytes", written.bytes},    {"files", written.files},
          {"submodules", written.submodules}, {"lfs", written.lfs_pointers}, {"skipped", written.skipped}};
}

std::string first_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesInNote); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kNamesInNote ? text + ", ..." : text;
}

std::vector<std::string> notes_of(const WrittenTree& written) {
  std::vector<std::string> notes;
  const auto say = [&](const std::vector<std::string>& names, const std::string& text) {
    if (!names.empty()) notes.push_back(text + " (" + std::to_string(names.size()) + "): " + first_names(names));
  };
  say(written.submodules, "submodules are not followed, their directories are empty");
  say(written.lfs_pointers, "Git LFS pointers stand for files whose content is not fetched");
  say(written.skipped, "paths of the commit cannot be made here");
  return notes;
}

/// Releases a tree that is held already.
class Hold {
 public:
  Hold(CheckoutStore& store, std::string tree) : store_(store), tree_(std::move(tree)) {}
  ~Hold() { store_.release(tree_); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  CheckoutStore& store_;
  std::string tree_;
};

class HeldCheckout final : public Checkout {
 public:
  HeldCheckout(std::unique_ptr<Hold> hold, std::string directory, std::vector<std::string> notes)
      : hold_(std::move(hold)), directory_(std::move(directory)), notes_(std::move(notes)) {}

  const std::string& directory() const override { return directory_; }
  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  std::unique_ptr<Hold> hold_;
  std::string directory_;
  std::vector<std::string> notes_;
};

}  // namespace

CheckoutStore::CheckoutStore(std::string directory, std::int64_t max_bytes, Log& log)
    : directory_(std::move(directory)), max_bytes_(max_bytes), log_(log) {
  fs::create_directories(directory_);
  // The user of a sandbox reads its work tree through this directory.
  fs::permissions(directory_, fs::perms(0755));
  load();
  evict();
}

void CheckoutStore::load() {
  const std::string boot_id = current_boot();
  std::vector<std::string> records;
  std::vector<std::string> unknown;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const std::string name = entry.path().filename().string();
    const bool directory = entry.is_directory() && !entry.is_symlink();
    if (name.size() == kTreeDigits && directory) {
      if (!load_entry(name, boot_id)) unknown.push_back(name);
    } else if (name.size() == kTreeDigits + 5 && name.ends_with(".json")) {
      records.push_back(name.substr(0, kTreeDigits));
    } else {
      unknown.push_back(name);
    }
  }
  for (const std::string& name : unknown) remove_tree(directory_ + "/" + name);
  auto entries = entries_.lock();
  for (const std::string& tree : records)
    if (!entries->contains(tree)) fs::remove(path_of(tree) + ".json");
}

bool CheckoutStore::load_entry(const std::string& tree, const std::string& boot_id) {
  const std::string file = path_of(tree) + ".json";
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return false;
  const json record = json::parse(text_of(file), nullptr, false);
  if (record.is_discarded() || record.value("boot", "") != boot_id) return false;
  Entry entry;
  entry.git_dir = record.value("mirror", "");
  entry.used = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  entry.written.bytes = record.value("bytes", std::int64_t{0});
  entry.written.files = record.value("files", std::int64_t{0});
  entry.written.submodules = record.value("submodules", std::vector<std::string>{});
  entry.written.lfs_pointers = record.value("lfs", std::vector<std::string>{});
  entry.written.skipped = record.value("skipped", std::vector<std::string>{});
  entries_.lock()->emplace(tree, std::move(entry));
  return true;
}

std::unique_ptr<Checkout> CheckoutStore::get(const std::string& git_dir, const std::string& tree, const Stop& stop) {
  const bool made_before = hold_or_claim(tree, git_dir, stop);
  auto hold = std::make_unique<Hold>(*this, tree);
  if (!made_before) {
    try {
      make(git_dir, tree, stop);
    } catch (...) {
      forget(tree);
      throw;
    }
    evict();
  } else {
    ::utimensat(AT_FDCWD, (path_of(tree) + ".json").c_str(), nullptr, 0);  // used now; load() of the next process asks
  }
  const auto notes = notes_of(entries_.lock()->at(tree).written);
  return std::make_unique<HeldCheckout>(std::move(hold), path_of(tree), notes);
}

/// True: it is there and held now. False: the caller has to make it.
bool CheckoutStore::hold_or_claim(const std::string& tree, const std::string& git_dir, const Stop& stop) {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  auto entries = entries_.lock();
  while (!entries.wait_until(stop.token(), stop.deadline(), [&](const Entries& all) {
    const auto found = all.find(tree);
    return found == all.end() || !found->second.busy;
  }))
    stop.check();
  auto [found, absent] = entries->try_emplace(tree);
  Entry& entry = found->second;
  entry.used = now;
  ++entry.holders;
  entry.busy = absent;
  if (absent) entry.git_dir = git_dir;
  return !absent;
}

std::optional<NearTree> CheckoutStore::hold_near(const std::string& git_dir) {
  auto entries = entries_.lock();
  Entries::value_type* latest = nullptr;
  for (auto& one : *entries) {
    const bool usable = one.second.git_dir == git_dir && !one.second.busy;
    if (usable && (latest == nullptr || one.second.used > latest->second.used)) latest = &one;
  }
  if (latest == nullptr) return {};
  ++latest->second.holders;
  return NearTree{.tree = latest->first, .directory = path_of(latest->first), .lfs_pointers = latest->second.written.lfs_pointers};
}

void CheckoutStore::make(const std::string& git_dir, const std::string& tree, const Stop& stop) {
  const std::optional<NearTree> near = hold_near(git_dir);
  std::optional<Hold> near_hold;
  if (near) near_hold.emplace(*this, near->tree);
  const std::string temporary = directory_ + "/" + unique_name(kUnfinished);
  try {
    WrittenTree written = write_tree(git_dir, tree, temporary, near, {.max_bytes = max_bytes_}, stop);
    // The record first: a directory without one is removed at the next start, and so is a record without a directory.
    write_record(directory_, path_of(tree) + ".json", record_of(written, git_dir));
    move_path(temporary, path_of(tree));
    auto entries = entries_.lock();
    Entry& entry = entries->at(tree);
    entry.written = std::move(written);
    entry.busy = false;
    entries.notify_all();
  } catch (...) {
    clean_up_tree(temporary, log_);
    throw;
  }
}

void CheckoutStore::forget(const std::string& tree) {
  auto entries = entries_.lock();
  entries->erase(tree);
  entries.notify_all();
}

/// After a claim that came to nothing: it can be used as before.
void CheckoutStore::keep(const std::string& tree) {
  auto entries = entries_.lock();
  entries->at(tree).busy = false;
  entries.notify_all();
}

void CheckoutStore::release(const std::string& tree) noexcept {
  auto entries = entries_.lock();
  const auto found = entries->find(tree);
  if (found != entries->end()) --found->second.holders;
}

std::vector<std::string> CheckoutStore::claim_surplus() {
  std::vector<std::string> surplus;
  auto entries = entries_.lock();
  surplus.reserve(entries->size());
  std::int64_t total = 0;
  for (const auto& [tree, entry] : *entries) total += entry.written.bytes;
  while (total > max_bytes_) {
    auto oldest = entries->end();
    for (auto one = entries->begin(); one != entries->end(); ++one) {
      const bool free = one->second.holders == 0 && !one->second.busy;
      if (free && (oldest == entries->end() || one->second.used < oldest->second.used)) oldest = one;
    }
    if (oldest == entries->end()) break;
    total -= oldest->second.written.bytes;
    oldest->second.busy = true;  // who wants this tree waits until it is gone, and makes it anew
    surplus.push_back(oldest->first);
  }
  return surplus;
}

/// False: it is still there, whole.
bool CheckoutStore::move_away(const std::string& tree, const std::string& to) {
  if (::rename(path_of(tree).c_str(), to.c_str()) == 0 || errno == ENOENT) return true;
  const Error error = system_failure("moving it", errno);
  log_.warn("an unused checkout cannot be removed", {{"tree", tree}, {"error", error.what()}});
  return false;
}

/// Never fails: whoever has made a checkout gets it, whatever becomes of the others.
void CheckoutStore::evict() {
  for (const std::string& tree : claim_surplus()) {
    const std::string removed = directory_ + "/" + unique_name(kRemoved);
    if (!move_away(tree, removed)) {
      keep(tree);
      continue;
    }
    // A record without a directory is overwritten, or removed at the next start; so is what cannot be removed now.
    ::unlink((path_of(tree) + ".json").c_str());
    forget(tree);
    log_.debug("removing an unused checkout", {{"tree", tree}});
    clean_up_tree(removed, log_);
  }
}

}  // namespace forge::git
