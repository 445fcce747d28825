#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/egress/answer_copy.h"
#include "orchestrator/egress/meter.h"

namespace forge::egress {

/// One answered request, to be kept.
struct DoorRecord {
  Meter::Counted counted;
  bool billed = true;  ///< false: an error, which costs nothing and has no usage row
  int status = 200;
  std::string request;
  AnswerRead answer;
  Reservations::Held held = {};  ///< given back when the cost is kept: until then other runs know of it by this alone
};

/// Writes what passed a door into store and trace, on a thread of its own: the agent does not wait for a disk between its requests.
class DoorRecords {
 public:
  /// Bytes of a request that are kept: head and tail, because a conversation grows at its end.
  static constexpr std::size_t kMostRequestBytes = 256 << 10;

  /// Bytes of records that wait: a disk that does not keep up holds the requests back, and not the memory of this machine.
  static constexpr std::size_t kMostWaitingBytes = 64 << 20;

  /// `failed` hears, on the thread, that something could not be kept; nothing is kept after that, and the meter knows. References outlive
  /// this object.
  DoorRecords(Meter& meter, TraceSink& trace, const Redactor& redactor, std::function<void(const std::string& why)> failed);
  /// Keeps what is waiting, then ends.
  ~DoorRecords();
  DoorRecords(const DoorRecords&) = delete;
  DoorRecords& operator=(const DoorRecords&) = delete;

  /// Waits for room, as long as `stop` allows: what was billed is kept whether there is room or not.
  void add(DoorRecord record, const Stop& stop);

 private:
  struct Waiting {
    std::deque<DoorRecord> records;
    std::size_t bytes = 0;
    bool failed = false;
  };
  void work(const std::stop_token& token);
  void keep(DoorRecord record);

  Meter& meter_;
  TraceSink& trace_;
  const Redactor& redactor_;
  const std::function<void(const std::string&)> failed_;
  Guarded<Waiting> waiting_;
  std::jthread thread_;  // last: it uses all above
};

}  // namespace forge::egress
