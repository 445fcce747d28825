#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/remote_rules.h"
#include "orchestrator/http/routes.h"

/// What a new job may name: templates, agents, models, and the branches of a repository.
namespace forge::http {
namespace {

using nlohmann::json;

/// Limits stand there because a template fixes them: a larger sandbox is another template.
json template_json(const TemplateEntry& entry) {
  const SandboxLimits& limits = entry.limits;
  return {{"name", entry.name},
          {"kind", entry.kind},
          {"description", entry.description},
          {"packages", entry.packages},
          {"limits",
           {{"memory_bytes", limits.memory_bytes},
            {"pids", limits.pids},
            {"cpu_millis", limits.cpu_millis},
            {"upper_bytes", limits.upper_bytes},
            {"upper_inodes", limits.upper_inodes},
            {"open_files", limits.open_files}}}};
}

Response list_templates(const Services& services) {
  json items = json::array();
  for (const TemplateEntry& entry : services.options.templates) items.push_back(template_json(entry));
  return whole_list(std::move(items));
}

Response list_adapters(const Services& services) {
  json items = json::array();
  for (const AdapterEntry& entry : services.parts.jobs.adapters())
    items.push_back({{"name", entry.name},
                     {"default", entry.name == services.options.defaults.adapter},
                     {"ready", entry.problem.empty()},
                     {"problem", entry.problem.empty() ? json(nullptr) : json(entry.problem)}});
  return whole_list(std::move(items));
}

json price_json(const Price& price) {
  return {{"input", price.input}, {"output", price.output}, {"cache_read", price.cache_read}, {"cache_write", price.cache_write}};
}

Response list_models(const Services& services) {
  json items = json::array();
  for (const ModelEntry& entry : services.options.models)
    items.push_back({{"name", entry.name},
                     {"default", entry.name == services.options.defaults.model},
                     {"price", entry.price ? price_json(*entry.price) : json(nullptr)},
                     {"context_window", entry.context_window > 0 ? json(entry.context_window) : json(nullptr)}});
  return whole_list(std::move(items));
}

/// For those who may create a job from it: it asks a server, or looks at this machine's files.
Response list_branches(Services& services, const Request& request, const Stop& stop) {
  const std::string repository = request.query_value("repository").value_or("");
  check_repository(repository);
  if (!request.principal->local) check_remote_repository(services.parts.jobs.local_path(repository), services.options.allow_local);
  const Branches branches = services.parts.jobs.branches(repository, stop);
  return json_answer({{"default", branches.default_branch.empty() ? json(nullptr) : json(branches.default_branch)},
                      {"items", branches.names},
                      {"more", branches.more}});
}

}  // namespace

void add_choice_routes(httpd::Router& router, Services& services) {
  const auto add = [&](const char* pattern, Response (*answer)(const Services&)) {
    router.add({.method = Method::get,
                .pattern = pattern,
                .access = Access::at_least(Role::viewer),
                .handler = [&services, answer](const Request&, const Stop&) { return answer(services); }});
  };
  add("/api/v1/templates", list_templates);
  add("/api/v1/adapters", list_adapters);
  add("/api/v1/models", list_models);
  router.add({.method = Method::get,
              .pattern = "/api/v1/branches",
              .access = Access::at_least(Role::operator_),
              .handler = [&services](const Request& request, const Stop& stop) { return list_branches(services, request, stop); },
              .query = {"repository"}});
}

}  // namespace forge::http
