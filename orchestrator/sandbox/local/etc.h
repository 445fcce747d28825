#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/guarded.h"

namespace forge::sandbox::local {

/// The /etc of sandboxes: written by us (passwd, group, hosts, nsswitch, resolv) or taken from an allow-list of the host's. One directory
/// below the instance's, bound read-only into every sandbox; made anew when the host's libraries or time zone changed. Large public
/// directories of the host (certificates, alternatives) are not copied but bound over empty ones in it.
class EtcDirectory {
 public:
  /// `base` is an existing directory of ours; `host_etc` is "/etc" but in tests.
  explicit EtcDirectory(std::string base, std::string host_etc = "/etc");

  struct Current {
    std::string path;
    std::vector<std::string> bound;  ///< names below /etc to bind from the host
  };
  /// What is up to date. Thread-safe.
  Current current();

 private:
  struct State {
    std::string path;
    std::string signature;
    std::vector<std::string> bound;
    int made = 0;
  };
  std::string signature() const;

  std::string base_;
  std::string host_etc_;
  Guarded<State> state_;
};

}  // namespace forge::sandbox::local
