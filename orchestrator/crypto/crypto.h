#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace forge::crypto {

/// SHA-256 as 64 lower-case hex digits.
std::string sha256_hex(std::string_view data);

/// SHA-256 over pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::string_view piece);
  /// Hex digits; the object is spent afterwards.
  std::string finish_hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `bytes` random bytes as unpadded URL-safe base64. Throws internal for 0 bytes, which everybody could guess.
std::string random_token(std::size_t bytes);
/// Compares in constant time (for equal lengths).
bool equal_secret(std::string_view a, std::string_view b);

}  // namespace forge::crypto
