#include "orchestrator/git/run_commit.h"

#include "orchestrator/base/text.h"

namespace forge::git {

Signature author_of(const CommitSettings& settings, std::optional<std::int64_t> time_ms) {
  // '<', '>' and line breaks end a name in a commit.
  const auto clean = [](const std::string& text, const char* otherwise) {
    std::string kept;
    for (const char c : to_utf8(text).text)
      if (c != '<' && c != '>' && static_cast<unsigned char>(c) >= 0x20) kept += c;
    kept = std::string(trim(kept));
    return kept.empty() ? std::string(otherwise) : kept;
  };
  const std::string name = clean(settings.author_name, "Forge");
  const std::string email = clean(settings.author_email, "forge@localhost");
  return receive<Signature>("making the author", [&](git_signature** out) {
    if (!time_ms) return git_signature_now(out, name.c_str(), email.c_str());
    return git_signature_new(out, name.c_str(), email.c_str(), *time_ms / 1000, 0);
  });
}

git_oid write_staged_commit(ObjectStage& stage, const git_oid& parent, const git_oid& tree, const git_signature* author,
                            const std::string& message) {
  const Tree tree_object = find_tree(stage.repository(), tree);
  const Commit parent_object = find_commit(stage.repository(), parent);
  const git_commit* parents[] = {parent_object.get()};
  git_oid id{};
  check("writing the commit",
        git_commit_create(&id, stage.repository(), nullptr, author, author, nullptr, message.c_str(), tree_object.get(), 1, parents));
  stage.note(id);
  stage.finish();
  return id;
}

void point_run_branch(git_repository* mirror, const std::string& git_dir, const std::string& branch, const git_oid& commit,
                      RunBranch existing) {
  const std::string name = "refs/forge/runs/" + branch;
  const int force = existing == RunBranch::may_exist ? 1 : 0;
  receive<Reference>("keeping the commit as " + name,
                     [&](git_reference** out) { return git_reference_create(out, mirror, name.c_str(), &commit, force, nullptr); });
  sync_reference(git_dir, name);
}

}  // namespace forge::git
