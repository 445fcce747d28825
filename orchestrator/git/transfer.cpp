#include "orchestrator/git/transfer.h"

#include <algorithm>
#include <functional>

#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

// What a server says beside the transfer is shown to people: some lines, not a flood.
constexpr std::size_t kMaxServerWords = 4096;

/// One connection to a remote: its callbacks, what they saw, and how a failure is told.
class Connection {
 public:
  Connection(git_repository* repository, const Endpoint& endpoint, TransferListener& listener) : endpoint_(endpoint), listener_(listener) {
    exchange_.url = endpoint.url;
    exchange_.authority = endpoint.authority;
    git_remote_create_options options = GIT_REMOTE_CREATE_OPTIONS_INIT;
    options.repository = repository;
    // The URL is the job's: nothing configured anywhere may put another host in its place.
    options.flags = GIT_REMOTE_CREATE_SKIP_INSTEADOF | GIT_REMOTE_CREATE_SKIP_DEFAULT_FETCHSPEC;
    remote_ = receive<Remote>("preparing the transfer",
                              [&](git_remote** out) { return git_remote_create_with_opts(out, endpoint.url.c_str(), &options); });
  }
  ~Connection() { git_remote_disconnect(remote_.get()); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  git_remote* remote() const { return remote_.get(); }
  const std::string& server_words() const { return server_words_; }
  const std::string& refusal() const { return refusal_; }

  git_remote_callbacks callbacks() {
    git_remote_callbacks all = GIT_REMOTE_CALLBACKS_INIT;
    all.payload = this;
    all.credentials = on_credentials;
    all.certificate_check = on_certificate;
    all.sideband_progress = on_server_words;
    all.transfer_progress = [](const git_indexer_progress*, void* self) { return of(self).moved(); };
    all.pack_progress = [](int, std::uint32_t, std::uint32_t, void* self) { return of(self).moved(); };
    all.push_transfer_progress = on_upload;
    all.push_update_reference = on_update;
    all.push_negotiation = on_negotiation;
    return all;
  }

  /// Of a push: what `ref` must be there when the update is sent; "" for nothing.
  void expect_old(const std::string& ref, const std::string& id) {
    expected_ref_ = ref;
    expected_old_ = id.empty() ? std::string(GIT_OID_HEXSZ, '0') : id;
  }

  /// Runs one call; what a callback threw comes first, then what libgit2 said, in words.
  void call(std::string_view what, const std::function<int()>& body) {
    const int result = body();
    carried_.rethrow();
    if (result >= 0) return;
    const Error failure = libgit2_error(what, result);
    throw endpoint_.authority.empty() ? failure : explain_exchange(failure, exchange_);
  }

  void connect(git_direction direction) {
    const git_remote_callbacks all = callbacks();
    git_proxy_options proxy = GIT_PROXY_OPTIONS_INIT;
    proxy.type = GIT_PROXY_NONE;
    git_remote_connect_options options = GIT_REMOTE_CONNECT_OPTIONS_INIT;
    options.callbacks = all;
    options.proxy_opts = proxy;
    options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
    call("connecting to " + endpoint_.url, [&] { return git_remote_connect_ext(remote(), direction, &options); });
  }

  std::vector<const git_remote_head*> list() {
    const git_remote_head** heads = nullptr;
    std::size_t count = 0;
    call("listing references of " + endpoint_.url, [&] { return git_remote_ls(&heads, &count, remote()); });
    return {heads, heads + count};
  }

 private:
  static Connection& of(void* self) { return *static_cast<Connection*>(self); }

  int moved() {
    return carried_.run([&] { listener_.moved(); });
  }

  static int on_credentials(git_credential** out, const char* url, const char*, unsigned int allowed, void* payload) {
    Connection& self = of(payload);
    if (!self.endpoint_.credential) {
      self.exchange_.lacked_credential = true;
      return GIT_EAUTH;
    }
    self.exchange_.refused_credential = self.credential_given_;  // the second question: the first answer was no good
    if (self.credential_given_ || (allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT) == 0) return GIT_EAUTH;
    if (!self.is_our_host(url)) return GIT_EAUTH;
    self.credential_given_ = true;
    return git_credential_userpass_plaintext_new(out, self.endpoint_.credential->username.c_str(),
                                                 self.endpoint_.credential->secret.c_str());
  }

  /// A redirect must not carry the credential to another host, should one ever be followed.
  bool is_our_host(std::string_view url) const {
    const auto mark = url.find("://");
    if (mark == std::string_view::npos) return false;
    const std::string_view rest = url.substr(mark + 3);
    return lower_ascii(rest.substr(0, rest.find('/'))) == endpoint_.authority;
  }

  static int on_certificate(git_cert*, int valid, const char* host, void* payload) {
    if (valid != 0) return 0;
    of(payload).exchange_.certificate_fault = host == nullptr ? "unknown host" : host;
    return GIT_ECERTIFICATE;
  }

  static int on_server_words(const char* text, int size, void* payload) {
    Connection& self = of(payload);
    return self.carried_.run([&] {
      const auto room = kMaxServerWords - std::min(self.server_words_.size(), kMaxServerWords);
      self.server_words_.append(text, std::min(static_cast<std::size_t>(std::max(size, 0)), room));
      self.listener_.moved();
    });
  }

  static int on_upload(unsigned int current, unsigned int total, std::size_t, void* payload) {
    Connection& self = of(payload);
    return self.carried_.run([&] {
      self.listener_.moved();
      if (current == total) self.listener_.reached("uploaded");
    });
  }

  static int on_update(const char*, const char* status, void* payload) {
    Connection& self = of(payload);
    return self.carried_.run([&] {
      if (status != nullptr) self.refusal_ = status;
    });
  }

  /// libgit2 may have asked the server again since we looked.
  static int on_negotiation(const git_push_update** updates, std::size_t count, void* payload) {
    Connection& self = of(payload);
    return self.carried_.run([&] {
      for (std::size_t i = 0; i < count; ++i)
        if (updates[i]->dst_refname != self.expected_ref_ || hex_of(updates[i]->src) != self.expected_old_)
          throw public_failure(ErrorCode::conflict, "the branch was changed there while it was pushed to");
    });
  }

  const Endpoint& endpoint_;
  TransferListener& listener_;
  Exchange exchange_;
  Carried carried_;
  bool credential_given_ = false;
  std::string server_words_;
  std::string expected_ref_;
  std::string expected_old_;
  std::string refusal_;  // empty: the server took the reference
  Remote remote_;
};

RemoteRefs refs_from(const std::vector<const git_remote_head*>& heads, const std::string& named) {
  RemoteRefs found;
  for (const git_remote_head* head : heads) {
    const std::string name = head->name;
    if (name == "HEAD") {
      found.head_id = hex_of(head->oid);
      if (head->symref_target != nullptr) found.head_ref = head->symref_target;
    } else if (is_kept(name, named)) {
      found.refs.push_back({name, hex_of(head->oid)});
    }
  }
  return found;
}

/// A refspec without a wildcard fails when the remote lacks its source: then it is left out, and the caller finds no such reference.
std::vector<std::string> specs_for(const RemoteRefs& found, const std::string& named) {
  const bool there = std::any_of(found.refs.begin(), found.refs.end(), [&](const auto& ref) { return ref.name == named; });
  std::vector<std::string> specs = fetch_refspecs(there ? named : "");
  // A detached HEAD may stand on a commit that no branch holds.
  if (!found.head_id.empty() && found.head_ref.empty()) specs.push_back(std::string("+HEAD:") + kRemoteHead);
  return specs;
}

/// C strings for libgit2, which does not change them. `texts` must outlive the answer.
std::vector<char*> c_texts(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  return pointers;
}

/// What people read: lines trimmed, control characters gone.
std::string readable(std::string_view words) {
  std::string clean;
  for (const char c : to_utf8(words).text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (c == '\n' || c == '\r') {
      if (!clean.empty() && !clean.ends_with('\n')) clean += '\n';
    } else if (!control) {
      clean += c;
    }
  }
  return std::string(trim(clean));
}

std::string id_in(const std::vector<const git_remote_head*>& heads, const std::string& name) {
  for (const git_remote_head* head : heads)
    if (head->name == name) return hex_of(head->oid);
  return "";
}

std::string id_of_ref(git_repository* repository, const std::string& name) {
  git_oid id{};
  check("reading " + name, git_reference_name_to_id(&id, repository, name.c_str()));
  return hex_of(id);
}

Error moved_meanwhile(const std::string& branch) {
  return public_failure(ErrorCode::conflict, "the branch '" + branch + "' was changed there while it was pushed to")
      .with_hint("look at what it holds now, and try again");
}

Error refused(const Endpoint& endpoint, const PushTarget& target, const std::string& refusal, const std::string& server_words) {
  // git's words when the reference is not what the server itself told before.
  if (refusal == "failed to update ref" || refusal == "reference already exists") return moved_meanwhile(target.branch);
  std::string text = "the server refused the branch: " + readable(refusal);
  if (const std::string words = readable(server_words); !words.empty()) text += "\n" + words;
  return Error(ErrorCode::permission_denied, "pushing to " + endpoint.url + ": " + text).for_client(text);
}

}  // namespace

RemoteRefs fetch_objects(git_repository* repository, const Endpoint& endpoint, const std::string& named, TransferListener& listener) {
  Connection connection(repository, endpoint, listener);
  connection.connect(GIT_DIRECTION_FETCH);
  listener.reached("answered");
  RemoteRefs found = refs_from(connection.list(), named);
  if (found.empty()) return found;

  const std::vector<std::string> specs = specs_for(found, named);
  std::vector<char*> spec_texts = c_texts(specs);
  const git_strarray spec_array{spec_texts.data(), spec_texts.size()};
  git_fetch_options options = GIT_FETCH_OPTIONS_INIT;
  options.callbacks = connection.callbacks();
  options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
  options.proxy_opts.type = GIT_PROXY_NONE;
  connection.call("fetching from " + endpoint.url, [&] { return git_remote_download(connection.remote(), &spec_array, &options); });
  return found;
}

RemoteRefs list_refs(const Endpoint& endpoint, TransferListener& listener) {
  Connection connection(nullptr, endpoint, listener);
  connection.connect(GIT_DIRECTION_FETCH);
  listener.reached("answered");
  return refs_from(connection.list(), "");
}

void push_branch(git_repository* repository, const Endpoint& endpoint, const std::string& source_ref, const PushTarget& target,
                 TransferListener& listener) {
  Connection connection(repository, endpoint, listener);
  connection.connect(GIT_DIRECTION_PUSH);
  listener.reached("answered");
  const std::string name = "refs/heads/" + target.branch;
  const PushStep step = next_step(target, id_in(connection.list(), name), id_of_ref(repository, source_ref), "there");
  if (step == PushStep::done) return;

  // With '+' only over what we know. The server compares the branch once more with what it told us on this connection.
  const std::vector<std::string> specs{(step == PushStep::replace ? "+" : "") + source_ref + ":" + name};
  std::vector<char*> spec_texts = c_texts(specs);
  const git_strarray spec_array{spec_texts.data(), spec_texts.size()};
  git_push_options options = GIT_PUSH_OPTIONS_INIT;
  options.callbacks = connection.callbacks();
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
  options.proxy_opts.type = GIT_PROXY_NONE;
  connection.expect_old(name, target.expected_old.value_or(""));
  connection.call("pushing to " + endpoint.url, [&] { return git_remote_upload(connection.remote(), &spec_array, &options); });
  if (!connection.refusal().empty()) throw refused(endpoint, target, connection.refusal(), connection.server_words());
}

}  // namespace forge::git
