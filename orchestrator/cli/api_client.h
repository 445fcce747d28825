#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/cli/services.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/domain/review_control.h"
#include "orchestrator/net/http_client.h"

namespace forge::cli {

/// Where the API is: a unix socket, or a URL with a token.
struct Endpoint {
  std::string url;     ///< "https://forge.example.com", without a path
  std::string socket;  ///< when set, the connection goes there and `url` is only a name
  std::string token;   ///< secret; empty = none
  /// For people: the socket's path or the URL.
  std::string shown() const { return socket.empty() ? net::printable_url(url) : socket; }
};

/// Opens the data directory once the process that owned it has gone. Tells for what this process now has it; nothing when another owns
/// it. Throws unavailable when an owner is there and does not answer.
using TakeOver = std::function<std::optional<EngineUse>(const Stop&)>;

/// A token as the API lists it; `secret` is set only in the answer to create_token.
struct TokenInfo {
  std::string id;
  std::string name;
  std::string role;
  std::int64_t created_ms = 0;
  std::int64_t last_used_ms = 0;  ///< 0 = never
  bool revoked = false;
  std::string secret;
};

/// The HTTP API as calls: one code path for a server on another machine, the one of this machine, and the engine of this process.
/// Errors carry the server's code, text, field and hint; unavailable when nobody answers or the answer is not Forge's. One thread at a
/// time. `run` 0 means the latest.
///
/// On this machine the other side may be a process that ends between two calls. Then `take_over` may put this one in its place, and what
/// can have changed nothing is asked again: reads, and whatever was refused or never sent.
class ApiClient {
 public:
  explicit ApiClient(Endpoint endpoint, TakeOver take_over = {});

  const Endpoint& endpoint() const { return endpoint_; }
  /// True when this process has just taken the owner's place. Never throws unavailable.
  bool take_over(const Stop& stop);
  /// Whether nobody works on the queue any more: this process has the data directory, and only looks.
  bool unattended() const { return taken_ == EngineUse::look; }

  /// Fields of `request` that equal those of `unsaid` are left to the server's defaults.
  Job create(const JobRequest& request, const JobSpec& unsaid, const Stop& stop);
  Job job(const std::string& id, const Stop& stop);
  JobPage jobs(const JobFilter& filter, const Stop& stop);
  /// Queues a new run of an ended job, or the first of a created one.
  Run new_run(const std::string& id, const NewRun& wanted, const Stop& stop);
  Job cancel(const std::string& id, const Stop& stop);
  Run run(const std::string& id, int run, const Stop& stop);
  TracePage trace(const std::string& id, int run, std::int64_t after, int limit, const Stop& stop);
  std::string diff(const std::string& id, int run, const Stop& stop);
  /// The JSON object of the API with the diff and its figures, as text.
  std::string diff_json(const std::string& id, int run, const Stop& stop);
  RunCost cost(const std::string& id, int run, const Stop& stop);

  Review review(const std::string& id, int run, const Stop& stop);
  /// This and the next ones throw precondition_failed when the review is no longer at the revision that they name.
  Review edit_review(const std::string& id, int run, std::int64_t revision, const ReviewEdit& edit, const Stop& stop);
  AppliedReview apply_review(const std::string& id, int run, const ApplyRequest& request, const Stop& stop);
  Run send_back(const std::string& id, int run, const SendBackRequest& request, const Stop& stop);
  Review dismiss_review(const std::string& id, int run, std::int64_t revision, const Stop& stop);
  ReviewComment add_comment(const std::string& id, int run, const NewComment& comment, const Stop& stop);
  std::string patch(const std::string& id, int run, PatchPart part, const Stop& stop);

  /// Hears the events of a run with seq > `after` until the server closes the stream. Throws unavailable when it breaks off.
  void events(const std::string& id, int run, std::int64_t after, const std::function<void(const TraceEvent&)>& hear, const Stop& stop);

  TokenInfo create_token(const std::string& name, const std::string& role, const Stop& stop);
  std::vector<TokenInfo> tokens(const Stop& stop);
  TokenInfo revoke_token(const std::string& id_or_name, const Stop& stop);

 private:
  template <typename Body>
  auto persistently(bool repeatable, const Stop& stop, Body&& body);
  nlohmann::json call(const std::string& method, const std::string& path, const std::string& body, const Stop& stop,
                      const std::vector<net::HttpHeader>& headers = {});
  std::string get_text(const std::string& path, const std::string& accept, const Stop& stop);
  net::HttpRequest request(const std::string& method, const std::string& path) const;

  Endpoint endpoint_;
  TakeOver take_over_;
  std::optional<EngineUse> taken_;
  net::HttpClient http_;
};

/// One part of a path or a query: everything but letters, digits and -._~ becomes %XX.
std::string url_escape(std::string_view text);

}  // namespace forge::cli
