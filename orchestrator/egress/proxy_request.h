#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forge::egress {

/// Where the bytes of one request body end, for a client that may try to send a second request behind it.
class BodyGate {
 public:
  static BodyGate none() { return BodyGate(Kind::counted, 0); }
  static BodyGate counted(std::int64_t bytes) { return BodyGate(Kind::counted, bytes); }
  static BodyGate chunked() { return BodyGate(Kind::chunked, 0); }
  /// A tunnel: all bytes pass.
  static BodyGate open() { return BodyGate(Kind::open, 0); }

  /// How many bytes at the beginning of `data` still belong to the body; the rest must not be sent on. Throws invalid_argument for chunks
  /// that break the format.
  std::size_t take(std::string_view data);
  bool finished() const;

 private:
  enum class Kind { counted, chunked, open };
  enum class Part { size, extension, data, data_end, trailer_begin, trailer, end };  // of a chunked body
  BodyGate(Kind kind, std::int64_t bytes) : kind_(kind), left_(bytes) {}
  void take_byte(char c);
  void end_of_line();

  Kind kind_;
  Part part_ = Part::size;
  std::int64_t left_ = 0;  // bytes of the body or of the chunk
  int digits_ = 0;         // of the chunk's size
  bool after_cr_ = false;
};

/// What a client asked of the proxy.
struct ProxyRequest {
  bool tunnel = false;  ///< CONNECT
  std::string host;     ///< canonical
  int port = 0;
  std::string head;  ///< to send to the server; empty for a tunnel
  BodyGate body = BodyGate::none();
};

/// Parses a request head (with its empty line). Only CONNECT and http:// in absolute form, HTTP/1.0 and 1.1, are taken. The head for the
/// server has the origin form, the Host of the URL, and "Connection: close" instead of all that concerns one connection.
/// Throws invalid_argument with a text for the client.
ProxyRequest parse_proxy_request(std::string_view head);

}  // namespace forge::egress
