#include <fmt/format.h>

#include <string>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/review_json.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

/// What a browser may show as more than text: images that hold no script. Known by how they begin, because a name is the agent's word;
/// SVG and HTML are documents that run.
std::string content_type(std::string_view content) {
  if (content.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (content.starts_with("\xff\xd8\xff")) return "image/jpeg";
  if (content.starts_with("GIF87a") || content.starts_with("GIF89a")) return "image/gif";
  if (content.starts_with("RIFF") && content.size() >= 12 && content.substr(8, 4) == "WEBP") return "image/webp";
  return is_utf8(content) ? "text/plain; charset=utf-8" : "application/octet-stream";
}

DiffSide side_of(const Request& request) {
  const auto name = request.query_value("side");
  const auto side = name ? parse_diff_side(*name) : DiffSide::head;
  if (!side) throw bad_input("side", "is not a side of a diff", "base or head");
  return *side;
}

Response show_file(Services& services, const Request& request, const Stop& stop) {
  const DiffSide side = side_of(request);
  const std::string path = named_path(request.query_value("path"), request.query_value("path_base64"));
  FileView file = services.parts.reviews.file(request.param("id"), run_number(request), side, path, stop);
  // A run's result never changes; "the latest run" is another one tomorrow.
  const bool fixed = request.params.contains("n");
  return stranger_answer(request, '"' + file.blob + '"', fixed ? Lifetime::immutable : Lifetime::asked_again, [&] {
    const std::string type = content_type(file.content);
    return httpd::text_response(200, type, std::move(file.content));
  });
}

// The run is looked up once: the name of the file and its content are of one run, also when a new one begins in between.
Response download_patch(Services& services, const Request& request, const Stop& stop) {
  const std::string part = request.query_value("part").value_or("all");
  if (part != "all" && part != "accepted") throw bad_input("part", "is not a part of a patch", "all or accepted");
  const Run run = services.parts.jobs.run(request.param("id"), run_number(request));
  std::string patch = services.parts.reviews.patch(run.job.str(), run.number, part == "all" ? PatchPart::all : PatchPart::accepted, stop);
  const std::string name = fmt::format("{}-{}.patch", run.job.str().substr(0, kShortIdLength), run.number);
  return httpd::text_response(200, "text/x-patch", std::move(patch)).with("Content-Disposition", "attachment; filename=\"" + name + '"');
}

}  // namespace

void add_file_routes(httpd::Router& router, Services& services) {
  const auto add = [&](const std::string& pattern, Response (*show)(Services&, const Request&, const Stop&),
                       std::vector<std::string> query) {
    router.add({.method = Method::get,
                .pattern = pattern,
                .access = Access::at_least(Role::viewer),
                .handler = [&services, show](const Request& request, const Stop& stop) { return show(services, request, stop); },
                .query = std::move(query)});
  };
  for (const std::string run : {"/api/v1/jobs/{id}", "/api/v1/jobs/{id}/runs/{n}"}) {
    add(run + "/file", show_file, {"side", "path", "path_base64"});
    add(run + "/patch", download_patch, {"part"});
  }
}

}  // namespace forge::http
