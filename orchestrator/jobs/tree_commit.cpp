#include "orchestrator/jobs/tree_commit.h"

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::jobs {
namespace {

constexpr std::size_t kSubjectBytes = 72;
constexpr std::size_t kBodyBytes = 16 << 10;

/// Feeds the driver's changes to the commit and its findings to the trace.
class CommitFeed final : public sandbox::ChangeSink {
 public:
  CommitFeed(git::CommitBuilder& commit, TraceSink& trace, const Stop& stop) : commit_(commit), trace_(trace), stop_(stop) {}

  void change(const sandbox::Change& change, const Read& read) override {
    stop_.check();
    if (change.kind == sandbox::Change::Kind::deleted) {
      commit_.remove(change.path);
    } else if (change.type == sandbox::Change::Type::symlink) {
      commit_.add_symlink(change.path, change.link_target);
    } else {
      commit_.add_file(change.path, change.executable, change.size, read);
    }
  }

  void finding(const std::string& kind, const std::string& path, const std::string& message) override {
    trace_.append(trace::Finding{kind, path, message});
  }

 private:
  git::CommitBuilder& commit_;
  TraceSink& trace_;
  const Stop& stop_;
};

/// At most `most` bytes, cut between UTF-8 sequences.
std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace

git::CommitBuilder::Result commit_changes(git::RepositoryCache& git, const git::Base& base, sandbox::Sandbox& sandbox,
                                          const sandbox::ChangeLimits& limits, const git::CommitBuilder::Message& message,
                                          const std::string& branch, TraceSink& trace, const Stop& stop) {
  const auto builder = git.build_commit(base);
  CommitFeed feed(*builder, trace, stop);
  sandbox.changes(limits, feed, stop);
  auto result = builder->commit(message, branch, stop);
  for (const auto& found : result.findings) trace.append(trace::Finding{found.kind, found.path, found.message});
  return result;
}

git::CommitBuilder::Message commit_message(const Job& job, const Run& run, const std::string& summary) {
  const std::string text(trim(harmless(summary)));
  const std::string first = text.empty() ? job.spec.title : std::string(trim(split_lines(text).front()));
  git::CommitBuilder::Message message;
  message.subject = shortened(first, kSubjectBytes);
  if (text.size() > message.subject.size()) message.body = shortened(text, kBodyBytes);
  message.trailers = {{"Forge-Job", job.id.str()},
                      {"Forge-Run", std::to_string(run.number)},
                      {"Co-authored-by", job.spec.adapter + " (" + job.spec.model + ") <agent@forge.invalid>"}};
  return message;
}

}  // namespace forge::jobs
