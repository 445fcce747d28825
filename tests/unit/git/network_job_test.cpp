#include "orchestrator/git/network_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace forge::git {
namespace {

TEST(NetworkJob, SurvivesTheWayToTheChild) {
  NetworkRequest request;
  request.operation = NetworkRequest::Operation::push;
  request.git_dir = "/m";
  request.remote = parse_location("https://host:8443/x");
  request.credential = Credential{.host = "host:8443", .username = "u", .secret = "s"};
  request.source_ref = "refs/forge/push/b";
  request.target = {.branch = "b", .expected_old = std::string(40, 'c')};
  request.ca_file = "/ca";
  const NetworkRequest back = request_from(to_json(request));
  EXPECT_EQ(back.operation, NetworkRequest::Operation::push);
  EXPECT_EQ(back.git_dir, "/m");
  EXPECT_EQ(back.remote.authority, "host:8443");
  EXPECT_EQ(back.credential->secret, "s");
  EXPECT_EQ(back.source_ref, "refs/forge/push/b");
  EXPECT_EQ(back.target.branch, "b");
  EXPECT_EQ(back.target.expected_old, std::string(40, 'c'));
  EXPECT_EQ(back.ca_file, "/ca");
  request.operation = NetworkRequest::Operation::list;
  EXPECT_EQ(request_from(to_json(request)).operation, NetworkRequest::Operation::list);
  request.credential.reset();
  EXPECT_FALSE(request_from(to_json(request)).credential);
}

TEST(NetworkJob, BringsReferencesAndErrorsBack) {
  const RemoteRefs refs{
      .refs = {{"refs/heads/main", std::string(40, 'a')}}, .head_ref = "refs/heads/main", .head_id = std::string(40, 'a')};
  const RemoteRefs back = refs_from(to_json(refs));
  EXPECT_EQ(back.refs.at(0).name, "refs/heads/main");
  EXPECT_EQ(back.head_ref, refs.head_ref);
  const Error error = error_from(to_json(bad_input("repository", "wrong", "right")));
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.client_text(), "wrong");
  EXPECT_EQ(error.field(), "repository");
  EXPECT_EQ(error.hint(), "right");
}

}  // namespace
}  // namespace forge::git
