#include "tests/support/raw_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::test {
namespace {

Stop patience() { return Stop::after(std::chrono::seconds(50)); }

RawClient connected(int family, const sockaddr* address, socklen_t length) {
  UniqueFd socket = checked_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), "making a socket");
  checked(::connect(socket.get(), address, length), "connecting");
  return RawClient(std::move(socket));
}

}  // namespace

RawClient RawClient::tcp(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connected(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

RawClient RawClient::unix_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size() + 1, sizeof address.sun_path));
  return connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

void RawClient::send(std::string_view bytes) { write_all(socket_.get(), bytes, patience()); }

bool RawClient::fill() {
  const std::string piece = read_some(socket_.get(), 64 << 10, patience());
  unread_ += piece;
  return !piece.empty();
}

std::string RawClient::read_to(std::string_view mark) {
  std::size_t at = 0;
  while ((at = unread_.find(mark)) == std::string::npos)
    if (!fill()) throw Error(ErrorCode::unavailable, "closed before '" + std::string(mark) + "'; got: " + unread_);
  std::string text = unread_.substr(0, at + mark.size());
  unread_.erase(0, text.size());
  return text;
}

std::string RawClient::read_bytes(std::size_t count) {
  while (unread_.size() < count)
    if (!fill()) throw Error(ErrorCode::unavailable, "closed inside a body");
  std::string text = unread_.substr(0, count);
  unread_.erase(0, count);
  return text;
}

std::string RawClient::read_to_end() {
  while (fill()) continue;
  return std::exchange(unread_, {});
}

RawResponse RawClient::read_response(bool head_only) {
  RawResponse response;
  std::string head;
  try {
    head = read_to("\r\n\r\n");
  } catch (const Error& e) {
    if (e.code() == ErrorCode::unavailable && unread_.empty()) return response;
    throw;
  }
  for (const std::string_view raw : split_lines(head)) {
    const std::string_view line = trim(raw);
    if (response.status == 0) {
      response.status = std::stoi(std::string(line.substr(9, 3)));
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      response.headers[lower_ascii(line.substr(0, colon))] = trim(line.substr(colon + 1));
    }
  }
  if (head_only || response.status == 100 || response.status == 204 || response.status == 304) return response;
  if (response.header("transfer-encoding") == "chunked") {
    while (true) {
      const std::size_t size = std::stoul(read_to("\r\n"), nullptr, 16);
      response.body += read_bytes(size);
      read_to("\r\n");
      if (size == 0) return response;
    }
  }
  const std::string length = response.header("content-length");
  response.body = length.empty() ? read_to_end() : read_bytes(std::stoul(length));
  return response;
}

RawResponse RawClient::ask(std::string_view bytes, bool head_only) {
  send(bytes);
  return read_response(head_only);
}

bool RawClient::closes() {
  while (unread_.empty())
    if (!fill()) return true;
  return false;
}

std::string get_request(const std::string& target, const std::string& headers) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

std::string body_request(const std::string& method, const std::string& target, const std::string& body, const std::string& headers) {
  return method + " " + target +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

}  // namespace forge::test
