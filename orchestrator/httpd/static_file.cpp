#include "orchestrator/httpd/static_file.h"

#include <algorithm>

#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"

namespace forge::httpd {
namespace {

/// True for a weight of 0, which refuses: "q=0", "q=0.0".
bool refuses(std::string_view parameter) {
  const std::string text = lower_ascii(trim(parameter));
  return text.starts_with("q=0") && text.find_first_not_of("0.", 2) == std::string::npos;
}

}  // namespace

StaticFile::StaticFile(std::string content_type, std::string body, Freshness freshness)
    : content_type_(std::move(content_type)),
      freshness_(freshness),
      hash_(crypto::sha256_hex(body).substr(0, 32)),
      plain_{.coding = "", .body = std::move(body), .etag = '"' + hash_ + '"'} {}

void StaticFile::add_coding(std::string coding, std::string body) {
  std::string etag = '"' + hash_ + '-' + coding + '"';
  coded_.push_back({.coding = std::move(coding), .body = std::move(body), .etag = std::move(etag)});
}

Response StaticFile::answer(const Request& request) const {
  const Coded& chosen = choose(request);
  Response response;
  if (has_etag(request, chosen.etag)) {
    response.status = 304;
  } else {
    response = text_response(200, content_type_, chosen.body);
    if (!chosen.coding.empty()) response.headers.push_back({"Content-Encoding", chosen.coding});
  }
  if (!coded_.empty()) response.headers.push_back({"Vary", "Accept-Encoding"});
  const bool kept = freshness_ == Freshness::forever;
  return std::move(response).with("ETag", chosen.etag).with("Cache-Control", kept ? "public, max-age=31536000, immutable" : "no-cache");
}

const StaticFile::Coded& StaticFile::choose(const Request& request) const {
  const auto found = std::find_if(coded_.begin(), coded_.end(), [&](const Coded& each) { return accepts_coding(request, each.coding); });
  return found == coded_.end() ? plain_ : *found;
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

bool accepts_coding(const Request& request, std::string_view coding) {
  bool any = false;
  for (const std::string& part : split(request.header("accept-encoding").value_or(""), ',')) {
    const std::vector<std::string> words = split(part, ';');
    const std::string name = lower_ascii(trim(words.front()));
    const bool taken = std::none_of(words.begin() + 1, words.end(), refuses);
    if (name == coding) return taken;  // the name itself goes before "*"
    if (name == "*") any = taken;
  }
  return any;
}

}  // namespace forge::httpd
