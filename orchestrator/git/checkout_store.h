#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/git/tree_writer.h"

namespace forge::git {

/// The immutable checkouts of a data directory: checkouts/<tree id>/ and beside it <tree id>.json, which says what is in it. The longest
/// unused go first when all together are larger than allowed; one that is held stays. Must outlive the checkouts it gave out.
class CheckoutStore {
 public:
  /// Makes the directory; removes what a crash left half made, and checkouts of before the machine's last start: their bytes may never
  /// have reached the disk, because nothing here waits for it.
  CheckoutStore(std::string directory, std::int64_t max_bytes, Log& log);

  /// The checkout of `tree`, made from the mirror `git_dir` unless it is there. Two callers for one tree: the second waits for the first.
  std::unique_ptr<Checkout> get(const std::string& git_dir, const std::string& tree, const Stop& stop);

  /// Called by the destructor of what get() returned.
  void release(const std::string& tree) noexcept;

 private:
  struct Entry {
    WrittenTree written;
    std::string git_dir;
    std::int64_t used = 0;  // larger = later
    int holders = 0;
    bool busy = false;  // somebody makes or removes it: wait
  };
  using Entries = std::map<std::string, Entry>;

  void load();
  bool load_entry(const std::string& tree, const std::string& boot_id);
  bool hold_or_claim(const std::string& tree, const std::string& git_dir, const Stop& stop);
  std::optional<NearTree> hold_near(const std::string& git_dir);
  void make(const std::string& git_dir, const std::string& tree, const Stop& stop);
  void forget(const std::string& tree);
  void keep(const std::string& tree);
  std::vector<std::string> claim_surplus();
  void evict();
  bool move_away(const std::string& tree, const std::string& to);
  std::string path_of(const std::string& tree) const { return directory_ + "/" + tree; }

  std::string directory_;
  std::int64_t max_bytes_;
  Log& log_;
  Guarded<Entries> entries_;
};

}  // namespace forge::git
