#include "orchestrator/http/dashboard.h"

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/httpd/static_file.h"

namespace forge::http {
namespace {

using httpd::Freshness;
using httpd::Request;
using httpd::Response;
using httpd::StaticFile;
using nlohmann::json;

using Files = std::map<std::string, std::shared_ptr<const StaticFile>, std::less<>>;

// Styles: the diff view puts a style attribute on each token. Everything else comes from this server and from nowhere else.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

// The pages of the application; web/src/app.tsx has the same list. A path that is in neither is a 404 of the server.
constexpr std::array kPages{
    "/", "/new", "/sign-in", "/jobs/{id}", "/account", "/costs", "/jobs/{id}/{view}", "/jobs/{id}/runs/{n}", "/jobs/{id}/runs/{n}/{view}"};

/// Cuts the next body off the pack.
std::string take(std::string_view& bytes, std::size_t count) {
  if (count > bytes.size()) throw Error(ErrorCode::corrupt, "the dashboard's pack is cut off");
  std::string body(bytes.substr(0, count));
  bytes.remove_prefix(count);
  return body;
}

/// One file of the index: its bodies stand in the pack in the order of the index, the plain one last.
std::shared_ptr<const StaticFile> read_file(const json& entry, std::string_view& bytes) {
  std::map<std::string, std::string> bodies;
  std::vector<std::string> order;
  for (const json& body : entry.at("bodies")) {
    const auto coding = body.at("coding").get<std::string>();
    bodies[coding] = take(bytes, body.at("bytes").get<std::size_t>());
    if (coding != "identity") order.push_back(coding);
  }
  const Freshness freshness = entry.at("immutable").get<bool>() ? Freshness::forever : Freshness::asked;
  auto file = std::make_shared<StaticFile>(entry.at("type").get<std::string>(), std::move(bodies["identity"]), freshness);
  for (const std::string& coding : order) file->add_coding(coding, std::move(bodies[coding]));
  return file;
}

Files read_pack(std::string_view pack) {
  const std::size_t end = pack.find('\n');
  Files files;
  try {
    const json index = json::parse(pack.substr(0, end));
    std::string_view bytes = pack.substr(end + 1);
    for (const json& entry : index.at("files")) files["/" + entry.at("path").get<std::string>()] = read_file(entry, bytes);
  } catch (const json::exception& error) {
    throw Error(ErrorCode::corrupt, std::string("the dashboard's pack: ") + error.what());
  }
  if (!files.contains("/index.html")) throw Error(ErrorCode::corrupt, "the dashboard's pack holds no index.html");
  return files;
}

Response page(const StaticFile& index, const Request& request) {
  return index.answer(request)
      .with("Content-Security-Policy", kPolicy)
      .with("Referrer-Policy", "same-origin")
      .with("Cross-Origin-Opener-Policy", "same-origin");
}

}  // namespace

void add_dashboard_routes(httpd::Router& router, std::string_view pack) {
  const Files files = read_pack(pack);
  const auto index = files.at("/index.html");
  for (const char* pattern : kPages)
    router.add({.method = httpd::Method::get,
                .pattern = pattern,
                .access = httpd::Access::open(),
                .handler = [index](const Request& request, const Stop&) { return page(*index, request); },
                .any_query = true});  // filters of a list, the step of a trace: the page reads them
  for (const auto& [path, file] : files) {
    if (file == index) continue;
    router.add({.method = httpd::Method::get,
                .pattern = path,
                .access = httpd::Access::open(),
                .handler = [file = file](const Request& request, const Stop&) { return file->answer(request); }});
  }
}

}  // namespace forge::http
