#include "orchestrator/git/remote_refs.h"

#include <gmock/gmock.h>

namespace forge::git {
namespace {

RemoteRefs with_branches(std::size_t count) {
  RemoteRefs remote;
  for (std::size_t i = 0; i < count; ++i) remote.refs.push_back({"refs/heads/b" + std::to_string(i), std::string(40, 'a')});
  return remote;
}

TEST(BranchesOf, AreSortedWithTheDefaultFirst) {
  RemoteRefs remote;
  for (const char* name : {"refs/heads/z", "refs/tags/t", "refs/heads/main", "refs/heads/a", "refs/heads/\xff"})
    remote.refs.push_back({name, std::string(40, 'a')});
  remote.head_ref = "refs/heads/main";
  const Branches branches = branches_of(remote);
  EXPECT_EQ(branches.default_branch, "main");
  EXPECT_EQ(branches.names, (std::vector<std::string>{"main", "a", "z"})) << "no tags, and no names that cannot be typed";
}

TEST(BranchesOf, NeedNoDefault) {
  RemoteRefs remote = with_branches(2);
  EXPECT_EQ(branches_of(remote).default_branch, "");
  remote.head_ref = "refs/heads/unborn";
  EXPECT_EQ(branches_of(remote).names, (std::vector<std::string>{"b0", "b1"}));
}

TEST(BranchesOf, AreSoManyAndSayThatThereAreOthers) {
  EXPECT_FALSE(branches_of(with_branches(kMostBranches)).more);
  const Branches cut = branches_of(with_branches(kMostBranches + 1));
  EXPECT_TRUE(cut.more);
  EXPECT_EQ(cut.names.size(), kMostBranches);
}

}  // namespace
}  // namespace forge::git
