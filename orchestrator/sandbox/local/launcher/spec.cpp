#include "orchestrator/sandbox/local/launcher/spec.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"

namespace forge::sandbox::local::launcher {
namespace {

using Json = nlohmann::json;

Mount::Kind kind_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Mount::Kind::mask); ++i) {
    if (name == name_of(static_cast<Mount::Kind>(i))) return static_cast<Mount::Kind>(i);
  }
  throw Error(ErrorCode::internal, "a plan holds a mount of unknown kind '" + name + "'");
}

Mount mount_of(const Json& one) {
  Mount mount;
  mount.kind = kind_of(one.at("kind").get<std::string>());
  mount.target = one.at("target").get<std::string>();
  mount.source = one.value("source", std::string());
  mount.mode = one.value("mode", 0755U);
  mount.read_only = one.value("read_only", false);
  return mount;
}

Plan plan_of(const Json& all) {
  Plan plan;
  plan.host_name = all.at("host_name").get<std::string>();
  const Json& identity = all.at("identity");
  plan.identity = {identity.at("uid").get<std::uint32_t>(), identity.at("gid").get<std::uint32_t>(), identity.at("pooled").get<bool>()};
  plan.namespaces = all.at("namespaces").get<std::vector<std::string>>();
  plan.scratch_bytes = all.at("scratch").at("bytes").get<std::int64_t>();
  plan.scratch_inodes = all.at("scratch").at("inodes").get<std::int64_t>();
  for (const Json& one : all.at("mounts")) plan.mounts.push_back(mount_of(one));
  plan.tree = all.at("tree").at("directory").get<std::string>();
  plan.map_tree = all.at("tree").at("map_owner").get<bool>();
  const Json& limits = all.at("rlimits");
  const auto number = [](const Json& of, const char* key) { return of.at(key).get<std::uint64_t>(); };
  plan.limits = {.open_files = number(limits, "nofile"),
                 .processes = number(limits, "nproc"),
                 .file_bytes = number(limits, "fsize"),
                 .stack_bytes = number(limits, "stack"),
                 .pending_signals = number(limits, "sigpending"),
                 .queue_bytes = number(limits, "msgqueue")};
  const Json& shares = all.at("shares");
  plan.shares = {.inotify_instances = number(shares, "inotify_instances"),
                 .inotify_watches = number(shares, "inotify_watches"),
                 .terminals = number(shares, "terminals")};
  plan.ports = all.at("ports").get<std::vector<int>>();
  plan.lifetime_ms = all.at("lifetime_ms").get<std::int64_t>();
  return plan;
}

}  // namespace

Spec parse_spec(std::string_view json) {
  try {
    const Json all = Json::parse(json);
    const Json& attached = all.at("attached");
    return {plan_of(all.at("plan")), attached.at("group_files").get<int>(), attached.at("group_v2").get<bool>(),
            attached.at("filters").get<bool>()};
  } catch (const Json::exception& e) {
    throw Error(ErrorCode::internal, std::string("reading the plan: ") + e.what());
  }
}

}  // namespace forge::sandbox::local::launcher
