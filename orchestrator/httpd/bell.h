#pragma once

#include "orchestrator/base/fd.h"

/// Private to httpd.
namespace forge::httpd {

/// Wakes a thread out of epoll_wait. Ringing twice before it looks is the same as once.
class Bell {
 public:
  Bell();
  /// Readable from a ring() to the next quiet(); belongs into the epoll of the one who listens.
  int fd() const { return pipe_.read.get(); }
  /// From any thread; never blocks.
  void ring() const;
  /// The listener's answer. Look at what is to be done afterwards, not before: what rings in between then rings again.
  void quiet() const;

 private:
  // A pipe and no eventfd: that one belongs to base, which has no use for a bell.
  Pipe pipe_;
};

}  // namespace forge::httpd
