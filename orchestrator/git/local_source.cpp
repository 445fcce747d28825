#include "orchestrator/git/local_source.h"

#include <climits>
#include <cstdlib>

#include <cerrno>
#include <filesystem>

#include "orchestrator/git/special_files.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;

struct FreeText {
  void operator()(char* text) const noexcept { std::free(text); }
};

/// The path with links resolved; the errors of a path that leads nowhere.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, FreeText> real(::realpath(path.c_str(), nullptr));
  if (real) return real.get();
  if (errno == EACCES)
    throw public_failure(ErrorCode::permission_denied, "'" + path + "' may not be read by this service").in_field("repository");
  throw public_failure(ErrorCode::not_found, "there is no directory '" + path + "'").in_field("repository");
}

/// Why the open failed, in words for whoever named the path.
Error explain_open(const std::string& path, int result) {
  Error error = libgit2_error("opening '" + path + "'", result);
  const std::string_view text = error.what();
  const auto say = [&](ErrorCode code, const std::string& for_client, std::string hint) {
    return Error(code, text.data()).for_client(for_client).in_field("repository").with_hint(std::move(hint));
  };
  if (text.find("objectformat") != std::string_view::npos)
    return say(ErrorCode::unsupported, "'" + path + "' uses SHA-256 object names, which are not supported", "a SHA-1 repository");
  if (text.find("unsupported extension") != std::string_view::npos || text.find("unsupported repository version") != std::string_view::npos)
    return say(ErrorCode::unsupported, "'" + path + "' uses a git extension that is not supported", "a plain clone of it");
  if (result == GIT_ENOTFOUND)
    return say(ErrorCode::invalid_argument, "'" + path + "' is not a git repository",
               "run `git init` and make a first commit there, or name another directory");
  return say(error.code(), "'" + path + "' cannot be opened as a git repository", "`git -C " + path + " status` tells more");
}

std::string object_id(git_reference* reference) { return hex_of(*git_reference_target(reference)); }

}  // namespace

LocalSource LocalSource::open(const std::string& path, const Stop& stop) {
  const std::string real = resolved(path);
  if (!fs::is_directory(real))
    throw public_failure(ErrorCode::invalid_argument, "'" + path + "' is not a directory").in_field("repository");
  refuse_special_files(real, stop);
  git_repository* raw = nullptr;
  const int result = git_repository_open_ext(&raw, real.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  Repository repository(raw);
  if (result < 0) throw explain_open(path, result);
  return LocalSource(std::move(repository), real);
}

std::string LocalSource::git_dir() const { return git_repository_commondir(repository_.get()); }

bool LocalSource::is_bare() const { return git_repository_is_bare(repository_.get()) == 1; }

bool LocalSource::is_shallow() const { return fs::exists(git_dir() + "shallow"); }

bool LocalSource::has_alternates() const { return fs::exists(objects_dir() + "/info/alternates"); }

RemoteRefs LocalSource::refs(const std::string& named) const {
  RemoteRefs found;
  const auto iterator = receive<ReferenceIterator>(
      "listing references of " + path_, [&](git_reference_iterator** out) { return git_reference_iterator_new(out, repository_.get()); });
  git_reference* raw = nullptr;
  int result = 0;
  while ((result = git_reference_next(&raw, iterator.get())) == 0) {
    Reference reference(raw);
    const std::string name = git_reference_name(reference.get());
    if (!is_kept(name, named)) continue;
    if (git_reference_type(reference.get()) == GIT_REFERENCE_SYMBOLIC) {
      git_reference* target = nullptr;
      if (git_reference_resolve(&target, reference.get()) < 0) continue;  // points at nothing
      reference.reset(target);
    }
    found.refs.push_back({name, object_id(reference.get())});
  }
  if (result != GIT_ITEROVER) check("listing references of " + path_, result);

  const auto head = receive<Reference>("reading HEAD of " + path_,
                                       [&](git_reference** out) { return git_reference_lookup(out, repository_.get(), "HEAD"); });
  if (const char* target = git_reference_symbolic_target(head.get())) found.head_ref = target;
  git_oid id{};
  if (git_reference_name_to_id(&id, repository_.get(), "HEAD") == 0) found.head_id = hex_of(id);
  return found;
}

}  // namespace forge::git
