#pragma once

#include <string>

#include "orchestrator/httpd/message.h"

namespace forge::httpd {

/// A document that does not change while the process lives, with the tag by which a browser asks whether it has it already.
class StaticFile {
 public:
  StaticFile(std::string content_type, std::string body);
  /// 200 with ETag, or 304 when If-None-Match names it.
  Response answer(const Request& request) const;
  const std::string& body() const { return body_; }

 private:
  std::string content_type_;
  std::string body_;
  std::string etag_;
};

/// True when If-None-Match of the request names `etag` (with its quotes) or is "*".
bool has_etag(const Request& request, std::string_view etag);

}  // namespace forge::httpd
