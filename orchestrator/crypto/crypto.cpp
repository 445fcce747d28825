#include "orchestrator/crypto/crypto.h"

#include <sodium.h>

#include <array>
#include <vector>

#include "orchestrator/base/error.h"

namespace forge::crypto {
namespace {

using Digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string hex_of(const Digest& digest) {
  // One more than the digits: libsodium ends its text with a NUL.
  std::array<char, crypto_hash_sha256_BYTES * 2 + 1> text{};
  sodium_bin2hex(text.data(), text.size(), digest.data(), digest.size());
  return text.data();
}

/// Must precede random bytes: before it libsodium may fall back on a source that is not thread-safe. Cheap when repeated.
void make_sodium_ready() {
  if (sodium_init() < 0) throw Error(ErrorCode::internal, "libsodium found no source of random bytes");
}

}  // namespace

std::string sha256_hex(std::string_view data) {
  Digest digest;
  crypto_hash_sha256(digest.data(), bytes_of(data), data.size());
  return hex_of(digest);
}

struct Sha256::State {
  crypto_hash_sha256_state inner;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { crypto_hash_sha256_init(&state_->inner); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view piece) {
  if (!state_) throw Error(ErrorCode::internal, "Sha256 used after finish_hex");
  crypto_hash_sha256_update(&state_->inner, bytes_of(piece), piece.size());
}

std::string Sha256::finish_hex() {
  if (!state_) throw Error(ErrorCode::internal, "Sha256 used after finish_hex");
  Digest digest;
  crypto_hash_sha256_final(&state_->inner, digest.data());
  state_.reset();
  return hex_of(digest);
}

std::string random_token(std::size_t bytes) {
  if (bytes == 0) throw Error(ErrorCode::internal, "a random token of no bytes is no secret");
  make_sodium_ready();
  std::vector<unsigned char> raw(bytes);
  randombytes_buf(raw.data(), raw.size());
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string text(sodium_base64_encoded_len(bytes, kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), raw.data(), raw.size(), kVariant);
  text.pop_back();  // the length above counts the NUL that ends the text
  sodium_memzero(raw.data(), raw.size());
  return text;
}

bool equal_secret(std::string_view a, std::string_view b) {
  // The length of a secret is no secret: all of Forge's have a fixed one.
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace forge::crypto
