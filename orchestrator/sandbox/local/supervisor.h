#pragma once

#include <span>
#include <string>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local {

/// Forge's end of the socket to pid 1 of a sandbox. What comes back is hostile and only ever says "done".
class Supervisor {
 public:
  Supervisor(UniqueFd control, UniqueFd init) : control_(std::move(control)), init_(std::move(init)) {}

  /// Throws unavailable when pid 1 is gone, invalid_argument when the packet is longer than kMaxLargePacketBytes.
  void request(char type, const std::vector<std::string>& fields, std::span<const int> fds) const;
  /// Ends every process but pid 1. False when that could not be had within `stop`: then only the end of the sandbox helps.
  bool kill_all(const Stop& stop) const;

  /// Readable when the last process of the sandbox is gone.
  int init_fd() const { return init_.get(); }
  bool gone() const;
  /// Kills pid 1, and with it, by the kernel's hand, every process of its namespace; waits until they are gone. Throws when `stop` ends.
  void end(const Stop& stop) const;

 private:
  UniqueFd control_;
  UniqueFd init_;
};

}  // namespace forge::sandbox::local
