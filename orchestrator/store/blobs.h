#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forge::store {

/// Large payloads as files `ab/cdef...` named by the SHA-256 of their content, mode 0600. Written beside, synced, then renamed, so that
/// a blob is whole or not there. Safe from any thread; putting the same content twice is one file.
class Blobs {
 public:
  static constexpr std::size_t kMaxBytes = 256 << 20;

  /// Makes the directory when there is none and removes what a dead process left half written.
  explicit Blobs(std::string directory);

  /// The id: 64 lower-case hex digits. Durable when it returns. Throws limit_exceeded over kMaxBytes, unavailable (disk full, I/O).
  std::string put(std::string_view data) const;
  /// Throws not_found; corrupt when the content is not the one that the id names.
  std::string get(const std::string& id) const;

 private:
  std::string path_of(const std::string& id) const;
  std::string directory_;
};

/// Makes `path` with mode 0700 unless it is there.
void make_private_directory(const std::string& path);

}  // namespace forge::store
