#include "orchestrator/git/network_job.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "orchestrator/base/json_reader.h"

namespace forge::git {

namespace {

using nlohmann::json;
using Operation = NetworkRequest::Operation;

/// In the order of Operation.
constexpr std::array<std::string_view, 3> kOperations{"list", "fetch", "push"};

Operation parse_operation(const std::string& name) {
  const auto* const found = std::find(kOperations.begin(), kOperations.end(), name);
  if (found == kOperations.end()) throw bad_input("operation", "is none of a git child");
  return static_cast<Operation>(found - kOperations.begin());
}

}  // namespace

json to_json(const NetworkRequest& request) {
  json out{{"operation", kOperations.at(static_cast<std::size_t>(request.operation))},
           {"git_dir", request.git_dir},
           {"url", request.remote.url},
           {"named", request.named},
           {"source_ref", request.source_ref},
           {"branch", request.target.branch},
           {"ca_file", request.ca_file}};
  if (request.target.expected_old) out["expected_old"] = *request.target.expected_old;
  if (request.credential) out["credential"] = {{"username", request.credential->username}, {"secret", request.credential->secret}};
  return out;
}

NetworkRequest request_from(const json& object) {
  JsonReader reader(object);
  NetworkRequest request;
  request.operation = parse_operation(reader.text("operation"));
  request.git_dir = reader.text("git_dir");
  request.remote = parse_location(reader.text("url"));
  request.named = reader.text("named");
  request.source_ref = reader.text("source_ref");
  request.target.branch = reader.text("branch");
  request.target.expected_old = reader.optional_text("expected_old");
  request.ca_file = reader.text("ca_file");
  if (const json* credential = reader.find("credential")) {
    JsonReader inner(*credential, "credential");
    request.credential = Credential{.host = request.remote.authority, .username = inner.text("username"), .secret = inner.text("secret")};
  }
  reader.finish();
  return request;
}

json to_json(const RemoteRefs& refs) {
  json list = json::array();
  for (const auto& ref : refs.refs) list.push_back({ref.name, ref.id});
  return {{"list", std::move(list)}, {"head_ref", refs.head_ref}, {"head_id", refs.head_id}};
}

RemoteRefs refs_from(const json& object) {
  RemoteRefs refs;
  refs.head_ref = object.at("head_ref").get<std::string>();
  refs.head_id = object.at("head_id").get<std::string>();
  for (const json& one : object.at("list")) refs.refs.push_back({one.at(0).get<std::string>(), one.at(1).get<std::string>()});
  return refs;
}

json to_json(const Error& error) {
  return {{"code", name_of(error.code())},
          {"message", error.what()},
          {"client_text", error.client_text()},
          {"field", error.field()},
          {"hint", error.hint()}};
}

Error error_from(const json& object) {
  const auto code = parse_error_code(object.at("code").get<std::string>()).value_or(ErrorCode::internal);
  return Error(code, object.at("message").get<std::string>())
      .for_client(object.at("client_text").get<std::string>())
      .in_field(object.at("field").get<std::string>())
      .with_hint(object.at("hint").get<std::string>());
}

}  // namespace forge::git
