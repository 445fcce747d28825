#include "orchestrator/httpd/static_file.h"

#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"

namespace forge::httpd {

StaticFile::StaticFile(std::string content_type, std::string body)
    : content_type_(std::move(content_type)), body_(std::move(body)), etag_('"' + crypto::sha256_hex(body_).substr(0, 32) + '"') {}

Response StaticFile::answer(const Request& request) const {
  // "no-cache" keeps the copy and asks each time: a new version shows at once.
  if (has_etag(request, etag_)) {
    Response unchanged;
    unchanged.status = 304;
    return std::move(unchanged).with("ETag", etag_).with("Cache-Control", "no-cache");
  }
  return text_response(200, content_type_, body_).with("ETag", etag_).with("Cache-Control", "no-cache");
}

bool has_etag(const Request& request, std::string_view etag) {
  const auto wanted = request.header("if-none-match");
  if (!wanted) return false;
  for (const std::string& part : split(*wanted, ',')) {
    std::string_view tag = trim(part);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == "*" || tag == etag) return true;
  }
  return false;
}

}  // namespace forge::httpd
