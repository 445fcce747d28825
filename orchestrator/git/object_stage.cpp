#include "orchestrator/git/object_stage.h"

#include <fcntl.h>
#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "orchestrator/base/fd.h"

namespace forge::git {
namespace {

constexpr std::size_t kPieceBytes = 64u << 10;
constexpr std::int64_t kLargeBlobBytes = 4LL << 20;
constexpr std::int64_t kFlushBytes = 64LL << 20;
// A commit of this size is the usual one; its loose files cost little and do not add to the packs that every look-up has to search.
constexpr std::size_t kFewObjects = 100;
constexpr int kFirstBackend = 1000;  // before libgit2's own: it takes every write
constexpr const char* kPackSettings = "/forge-pack.config";

/// Nothing when the file is not there: the object was in the mirror before, inside a pack.
void sync_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) checked(::fsync(fd.get()), "waiting for the disk");
}

std::string loose_path(const std::string& git_dir, const git_oid& id) {
  const std::string hex = hex_of(id);
  return git_dir + "/objects/" + hex.substr(0, 2) + "/" + hex.substr(2);
}

}  // namespace

ObjectStage::ObjectStage(const std::string& git_dir)
    : git_dir_(git_dir),
      repository_(open_mirror(git_dir)),
      odb_(odb_of(repository_.get())),
      memory_(nullptr),
      plain_(open_mirror(git_dir)),
      plain_odb_(odb_of(plain_.get())) {
  check("making a stage", git_mempack_new(&memory_));
  check("making a stage", git_odb_add_backend(odb_.get(), memory_, kFirstBackend));
  without_deltas(repository_.get(), git_dir);
}

std::optional<git_oid> ObjectStage::write_blob(std::int64_t size, const CommitBuilder::Read& read) {
  if (size > kLargeBlobBytes) return stream_blob(size, read);
  std::string content(static_cast<std::size_t>(size), '\0');
  for (std::size_t done = 0; done < content.size();) {
    const std::size_t got = read(content.data() + done, content.size() - done);
    if (got == 0) return {};
    done += got;
  }
  return write_blob(content);
}

git_oid ObjectStage::write_blob(const std::string& text) {
  git_oid id{};
  check("staging a blob", git_odb_write(&id, odb_.get(), text.data(), text.size(), GIT_OBJECT_BLOB));
  note(id);
  staged_bytes_ += static_cast<std::int64_t>(text.size());
  if (staged_bytes_ > kFlushBytes) flush_to_pack();
  return id;
}

std::optional<git_oid> ObjectStage::stream_blob(std::int64_t size, const CommitBuilder::Read& read) {
  const auto stream = receive<OdbStream>("opening a blob", [&](git_odb_stream** out) {
    return git_odb_open_wstream(out, plain_odb_.get(), static_cast<git_object_size_t>(size), GIT_OBJECT_BLOB);
  });
  std::array<char, kPieceBytes> piece;
  for (std::int64_t left = size; left > 0;) {
    const std::size_t got = read(piece.data(), std::min(piece.size(), static_cast<std::size_t>(left)));
    if (got == 0) return {};
    check("writing a blob", git_odb_stream_write(stream.get(), piece.data(), got));
    left -= static_cast<std::int64_t>(got);
  }
  git_oid id{};
  check("finishing a blob", git_odb_stream_finalize_write(&id, stream.get()));
  sync_file(loose_path(git_dir_, id));
  return id;
}

void ObjectStage::finish() {
  if (staged_.size() <= kFewObjects) {
    flush_to_files();
  } else {
    flush_to_pack();
  }
}

void ObjectStage::flush_to_files() {
  for (const git_oid& id : staged_) {
    const auto object =
        receive<OdbObject>("reading a staged object", [&](git_odb_object** out) { return git_odb_read(out, odb_.get(), &id); });
    git_oid written{};
    check("writing an object", git_odb_write(&written, plain_odb_.get(), git_odb_object_data(object.get()),
                                             git_odb_object_size(object.get()), git_odb_object_type(object.get())));
    sync_file(loose_path(git_dir_, id));
  }
  staged_.clear();
}

void ObjectStage::flush_to_pack() {
  const auto pack =
      receive<PackBuilder>("preparing a pack", [&](git_packbuilder** out) { return git_packbuilder_new(out, repository_.get()); });
  git_packbuilder_set_threads(pack.get(), 0);  // one per core
  for (const git_oid& id : staged_) check("adding to a pack", git_packbuilder_insert(pack.get(), &id, nullptr));
  check("writing a pack", git_packbuilder_write(pack.get(), nullptr, 0, nullptr, nullptr));
  const std::string directory = git_dir_ + "/objects/pack";
  const std::string name = directory + "/pack-" + git_packbuilder_name(pack.get());
  for (const std::string& path : {name + ".pack", name + ".idx", directory}) sync_file(path);
  check("emptying a stage", git_mempack_reset(memory_));
  staged_.clear();
  staged_bytes_ = 0;
}

void sync_reference(const std::string& git_dir, const std::string& name) { sync_file(git_dir + "/" + name); }

void without_deltas(git_repository* mirror, const std::string& git_dir) {
  git_config* raw = nullptr;
  const int result = git_repository_config(&raw, mirror);
  const std::unique_ptr<git_config, FreeWith<git_config_free>> config(raw);
  check("reading the configuration of a mirror", result);
  check("adding pack settings",
        git_config_add_file_ondisk(config.get(), (git_dir + kPackSettings).c_str(), GIT_CONFIG_LEVEL_APP, mirror, 1));
}

void write_pack_settings(const std::string& git_dir) {
  // libgit2 1.5 reads its size limit for deltas from this key, and tries none below 50 bytes anyway.
  std::ofstream(git_dir + kPackSettings) << "[pack]\n\tdeltaCacheSize = 49\n";
}

}  // namespace forge::git
