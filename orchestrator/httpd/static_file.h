#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/httpd/message.h"

namespace forge::httpd {

/// How long a browser may use its copy.
enum class Freshness {
  asked,    ///< it asks each time: a new version shows at once
  forever,  ///< the name holds a hash of the content, so what the name leads to never changes
};

/// A document that does not change while the process lives, with the tag by which a browser asks whether it has it already.
class StaticFile {
 public:
  StaticFile(std::string content_type, std::string body, Freshness freshness = Freshness::asked);
  /// Adds the same document in a content coding ("br", "gzip"). Of those that a client takes, the one added first is sent.
  void add_coding(std::string coding, std::string body);
  /// 200 with ETag, or 304 when If-None-Match names it.
  Response answer(const Request& request) const;
  const std::string& body() const { return plain_.body; }

 private:
  // Each coding has a tag of its own: a tag names bytes, and a cache must not mix them.
  struct Coded {
    std::string coding;  // empty = none
    std::string body;
    std::string etag;
  };
  const Coded& choose(const Request& request) const;

  std::string content_type_;
  Freshness freshness_;
  std::string hash_;
  Coded plain_;
  std::vector<Coded> coded_;
};

/// True when If-None-Match of the request names `etag` (with its quotes) or is "*".
bool has_etag(const Request& request, std::string_view etag);

/// True when Accept-Encoding of the request takes `coding`, by name or by "*", with another weight than 0.
bool accepts_coding(const Request& request, std::string_view coding);

}  // namespace forge::httpd
