#pragma once

#include <string>

#include "orchestrator/base/guarded.h"

namespace forge::sandbox::local {

/// The /etc of sandboxes: written by us (passwd, group, hosts, nsswitch, resolv) or copied from an allow-list of the host's. One directory
/// below the instance's, bound read-only into every sandbox; made anew when the host's libraries, certificates or alternatives changed.
class EtcDirectory {
 public:
  /// `base` is an existing directory of ours; `host_etc` is "/etc" but in tests.
  explicit EtcDirectory(std::string base, std::string host_etc = "/etc");

  /// Path of a directory that is up to date. Thread-safe.
  std::string current();

 private:
  struct State {
    std::string path;
    std::string signature;
    int made = 0;
  };
  std::string signature() const;

  std::string base_;
  std::string host_etc_;
  Guarded<State> state_;
};

}  // namespace forge::sandbox::local
