#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/redactor.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/models/transport.h"

namespace forge::models {

/// Whole conversations with models in a file, so that they can be had again without a model: JSON lines, the first
/// {"cassette":1}, then one per exchange: {seq, method, path, body_sha256, body, status, headers, chunks: [[delay_ms, base64]], cut?}.
/// `body` and its hash are those of the request after the scrubs, with secrets taken out; `headers` are the answer's, without any that
/// authenticate; `chunks` lose secrets, too. `cut` says that the answer broke off. Thread-safe.
class Cassette {
 public:
  virtual ~Cassette() = default;
  /// The transport, recorded, or a replay in its place. The cassette must outlive it. stream() of the result throws invalid_argument, with
  /// a text for clients that names the file without its folder, when the file holds no such request, or can no longer be made.
  virtual std::unique_ptr<Transport> around(std::unique_ptr<Transport> transport) = 0;
};

/// Of a file that is replayed, which stands in memory as a whole: the conversations of many runs.
inline constexpr std::uintmax_t kMostCassetteBytes = 256 << 20;

struct CassetteOptions {
  std::string file;
  /// Members that differ from run to run, left out of comparison and file: names separated by dots, `*` for any member or element:
  /// "metadata.user_id", "messages.*.content".
  std::vector<std::string> scrubs;
  const Redactor& redactor;  ///< outlives the cassette
  std::uintmax_t most_bytes = kMostCassetteBytes;
  /// What a recording measures delays by.
  std::function<SteadyClock::time_point()> now = [] { return SteadyClock::now(); };
  /// Waits before a piece of a replayed answer; throws as forge::pause does.
  std::function<void(std::chrono::milliseconds, const Stop&)> pause = [](std::chrono::milliseconds delay, const Stop& stop) {
    forge::pause(delay, stop);
  };
};

/// Of a recorded delay: a model that thought for minutes need not be waited for as long again.
inline constexpr std::chrono::milliseconds kLongestReplayedDelay{10'000};

/// Writes each exchange at its end. The file is made at the first one; one that exists is never written to. Throws invalid_argument, with a
/// text for clients, when the file is there already, or its folder is none that it can be made in.
std::unique_ptr<Cassette> record_cassette(CassetteOptions options);

/// Answers each request with the first exchange of the file that is not used up and has the same method, path and body hash, each piece
/// after the delay that it was recorded with, up to kLongestReplayedDelay. A request that the file does not have names the place where it
/// first differs from the next exchange. Reads the whole file now: throws invalid_argument, with a text for clients that names the file
/// without its folder, when it cannot be used.
std::unique_ptr<Cassette> replay_cassette(CassetteOptions options);

}  // namespace forge::models
