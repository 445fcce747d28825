#include "orchestrator/cli/api_client.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/domain/review_json.h"
#include "orchestrator/net/sse_parser.h"

namespace forge::cli {
namespace {

using nlohmann::json;

// The largest answer is a diff: 64 MiB, longer as JSON.
constexpr std::size_t kAnswerBytes = 160U << 20;
// The server sends a sign of life every 15 s; three missed ones mean that nobody is there.
constexpr auto kStreamSilence = std::chrono::seconds(50);
// An owner of the data directory that refuses because it is ending is gone after this, or serves long runs to their end.
constexpr auto kOwnerLeaves = std::chrono::seconds(10);
constexpr auto kAskAgain = std::chrono::milliseconds(50);

/// The short form under the job means the latest run.
std::string run_path(const std::string& id, int run) {
  const std::string job = "/api/v1/jobs/" + url_escape(id);
  return run == 0 ? job : job + "/runs/" + std::to_string(run);
}

/// A proxy's error page, another program on that port: the person named the wrong address, or something stands between.
[[noreturn]] void not_forge(const Endpoint& endpoint, int status) {
  throw Error(ErrorCode::unavailable, fmt::format("{} answered {} without an error object", endpoint.shown(), status))
      .for_client(fmt::format("{} answered {}, and not as Forge does", endpoint.shown(), status))
      .with_hint("is that the address of a Forge server?");
}

json parsed(const Endpoint& endpoint, int status, const std::string& body) {
  try {
    return parse_json(body, "the answer of the server");
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument) throw;
    not_forge(endpoint, status);
  }
}

// Lenient, since they read what a server of another version says: what is missing is empty.
std::string text_field(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_field(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

/// Throws what an answer with an error status says.
[[noreturn]] void throw_answer(const Endpoint& endpoint, int status, const std::string& body) {
  const json answer = parsed(endpoint, status, body);
  const auto error = answer.is_object() ? answer.find("error") : answer.end();
  if (!answer.is_object() || error == answer.end() || !error->is_object()) not_forge(endpoint, status);
  const std::string message = text_field(*error, "message");
  const ErrorCode code = parse_error_code(text_field(*error, "code")).value_or(ErrorCode::internal);
  std::string hint = text_field(*error, "hint");
  // The server speaks of headers; a person at a command line has options.
  if (code == ErrorCode::unauthenticated) hint = "give a token with --token or FORGE_TOKEN; `forge token create` on the server makes one";
  throw Error(code, message).for_client(message).in_field(text_field(*error, "field")).with_hint(hint);
}

/// "Couldn't connect to server" of "GET http://...: Failed to connect to localhost port 80 after 0 ms: Couldn't connect to server".
std::string last_part(const std::string& message) {
  const auto colon = message.rfind(": ");
  return colon == message.npos ? message : message.substr(colon + 2);
}

/// A failure of the connection, not an answer: an answer has a text for people.
bool is_unreachable(const Error& e) { return e.code() == ErrorCode::unavailable && e.client_text().empty(); }

/// Gives failures of the connection a text for people.
template <typename Body>
decltype(auto) reaching(const Endpoint& endpoint, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& e) {
    if (!is_unreachable(e)) throw;
    throw Error(e.code(), e.what())
        .for_client(fmt::format("no answer from {} ({})", endpoint.shown(), last_part(e.what())))
        .with_hint(endpoint.socket.empty() ? "check the address, and that the server is up"
                                           : "is the process that owns the data directory still there?");
  }
}

TokenInfo token_from(const json& object) {
  return {.id = text_field(object, "id"),
          .name = text_field(object, "name"),
          .role = text_field(object, "role"),
          .created_ms = number_field(object, "created_ms"),
          .last_used_ms = number_field(object, "last_used_ms"),
          .revoked = object.value("revoked", false),
          .secret = text_field(object, "secret")};
}

}  // namespace

std::string url_escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

ApiClient::ApiClient(Endpoint endpoint, TakeOver take_over)
    : endpoint_(std::move(endpoint)), take_over_(std::move(take_over)), http_(net::HttpLimits{.max_body_bytes = kAnswerBytes}) {
  while (endpoint_.url.ends_with('/')) endpoint_.url.pop_back();
  if (!endpoint_.socket.empty()) endpoint_.url = "http://localhost";
}

bool ApiClient::take_over(const Stop& stop) {
  if (taken_ || !take_over_) return false;
  try {
    taken_ = take_over_(stop);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unavailable) throw;
  }
  return taken_.has_value();
}

/// Runs `body` again while the owner of the data directory changes. An unrepeatable call is made again only when it cannot have had an
/// effect.
template <typename Body>
auto ApiClient::persistently(bool repeatable, const Stop& stop, Body&& body) {
  const Stop patience = stop.shorter(kOwnerLeaves);
  while (true) {
    try {
      return body();
    } catch (const net::NotConnected&) {
      if (!take_over_ || taken_ || patience.expired()) throw;
    } catch (const Error& e) {
      if (e.code() != ErrorCode::unavailable || (is_unreachable(e) && !repeatable)) throw;
      if (!take_over_ || taken_ || patience.expired()) throw;
    }
    if (!take_over(patience)) pause(kAskAgain, stop);
  }
}

net::HttpRequest ApiClient::request(const std::string& method, const std::string& path) const {
  net::HttpRequest request{.method = method, .url = endpoint_.url + path, .unix_socket = endpoint_.socket};
  if (!endpoint_.token.empty()) request.headers.push_back({"Authorization", "Bearer " + endpoint_.token});
  return request;
}

json ApiClient::call(const std::string& method, const std::string& path, const std::string& body, const Stop& stop,
                     const std::vector<net::HttpHeader>& headers) {
  net::HttpRequest request = this->request(method, path);
  request.headers.insert(request.headers.end(), headers.begin(), headers.end());
  request.headers.push_back({"Accept", "application/json"});
  if (method == "POST" || method == "PATCH") request.headers.push_back({"Content-Type", "application/json"});
  request.body = body;
  return reaching(endpoint_, [&] {
    return persistently(method == "GET", stop, [&] {
      const net::HttpResponse answer = http_.fetch(request, stop);
      if (answer.head.status / 100 != 2) throw_answer(endpoint_, answer.head.status, answer.body);
      if (answer.head.status == 204) return json();
      return parsed(endpoint_, answer.head.status, answer.body);
    });
  });
}

std::string ApiClient::get_text(const std::string& path, const std::string& accept, const Stop& stop) {
  net::HttpRequest request = this->request("GET", path);
  request.headers.push_back({"Accept", accept});
  return reaching(endpoint_, [&] {
    return persistently(true, stop, [&] {
      net::HttpResponse answer = http_.fetch(request, stop);
      if (answer.head.status != 200) throw_answer(endpoint_, answer.head.status, answer.body);
      return std::move(answer.body);
    });
  });
}

Job ApiClient::create(const JobRequest& request, const JobSpec& unsaid, const Stop& stop) {
  return job_from_json(call("POST", "/api/v1/jobs", dump_json(to_json(request, unsaid)), stop));
}

Job ApiClient::job(const std::string& id, const Stop& stop) { return job_from_json(call("GET", run_path(id, 0), "", stop)); }

JobPage ApiClient::jobs(const JobFilter& filter, const Stop& stop) {
  std::string path = "/api/v1/jobs?limit=" + std::to_string(filter.limit);
  if (filter.state) path += "&state=" + std::string(name_of(*filter.state));
  if (!filter.repository.empty()) path += "&repository=" + url_escape(filter.repository);
  if (!filter.cursor.empty()) path += "&cursor=" + url_escape(filter.cursor);
  return job_page_from_json(call("GET", path, "", stop));
}

Run ApiClient::new_run(const std::string& id, const NewRun& wanted, const Stop& stop) {
  return run_from_json(call("POST", run_path(id, 0) + "/run", dump_json(to_json(wanted)), stop));
}

Job ApiClient::cancel(const std::string& id, const Stop& stop) {
  return job_from_json(call("POST", run_path(id, 0) + "/cancel", "{}", stop));
}

Run ApiClient::run(const std::string& id, int run, const Stop& stop) {
  if (run != 0) return run_from_json(call("GET", run_path(id, run), "", stop));
  const Job found = job(id, stop);
  if (!found.last_run) throw public_failure(ErrorCode::not_found, fmt::format("job {} has not run yet", found.id.str()));
  return *found.last_run;
}

TracePage ApiClient::trace(const std::string& id, int run, std::int64_t after, int limit, const Stop& stop) {
  return trace_page_from_json(call("GET", fmt::format("{}/trace?cursor={}&limit={}", run_path(id, run), after, limit), "", stop));
}

std::string ApiClient::diff(const std::string& id, int run, const Stop& stop) {
  return get_text(run_path(id, run) + "/diff", "text/x-diff", stop);
}

std::string ApiClient::diff_json(const std::string& id, int run, const Stop& stop) {
  return dump_json(call("GET", run_path(id, run) + "/diff", "", stop));
}

RunCost ApiClient::cost(const std::string& id, int run, const Stop& stop) {
  return run_cost_from_json(call("GET", run_path(id, run) + "/cost", "", stop));
}

Review ApiClient::review(const std::string& id, int run, const Stop& stop) {
  return review_from_json(call("GET", run_path(id, run) + "/review", "", stop));
}

Review ApiClient::edit_review(const std::string& id, int run, std::int64_t revision, const ReviewEdit& edit, const Stop& stop) {
  const std::vector<net::HttpHeader> headers{{"If-Match", fmt::format("\"{}\"", revision)}};
  return review_from_json(call("PATCH", run_path(id, run) + "/review", dump_json(to_json(edit)), stop, headers));
}

AppliedReview ApiClient::apply_review(const std::string& id, int run, const ApplyRequest& request, const Stop& stop) {
  return applied_review_from_json(call("POST", run_path(id, run) + "/review/apply", dump_json(to_json(request)), stop));
}

Run ApiClient::send_back(const std::string& id, int run, const SendBackRequest& request, const Stop& stop) {
  const json answer = call("POST", run_path(id, run) + "/review/send-back", dump_json(to_json(request)), stop);
  return run_from_json(answer.value("run", json()));
}

Review ApiClient::dismiss_review(const std::string& id, int run, std::int64_t revision, const Stop& stop) {
  return review_from_json(call("POST", run_path(id, run) + "/review/dismiss", dump_json({{"revision", revision}}), stop));
}

ReviewComment ApiClient::add_comment(const std::string& id, int run, const NewComment& comment, const Stop& stop) {
  return review_comment_from_json(call("POST", run_path(id, run) + "/review/comments", dump_json(to_json(comment)), stop));
}

std::string ApiClient::patch(const std::string& id, int run, PatchPart part, const Stop& stop) {
  return get_text(run_path(id, run) + "/patch?part=" + (part == PatchPart::all ? "all" : "accepted"), "text/x-patch", stop);
}

void ApiClient::events(const std::string& id, int run, std::int64_t after, const std::function<void(const TraceEvent&)>& hear,
                       const Stop& stop) {
  net::HttpRequest request = this->request("GET", run_path(id, run) + "/events");
  request.headers.push_back({"Accept", "text/event-stream"});
  request.headers.push_back({"Last-Event-ID", std::to_string(after)});
  // A connection of its own: the other one stays free for a cancel meanwhile, and an event stream never ends by size.
  net::HttpClient http(net::HttpLimits{.idle = kStreamSilence, .max_body_bytes = std::numeric_limits<std::size_t>::max()});
  int status = 0;
  std::string refusal;
  net::SseParser parser(
      [&](const net::SseEvent& event) {
        // Named ones are about the stream ("end"), not of the run.
        if (event.name.empty() || event.name == "message") hear(trace_event_from_json(parse_json(event.data, "an event")));
      },
      {.max_total_bytes = 0});
  const net::HttpReceiver receiver{.head = [&](const net::HttpHead& head) { status = head.status; },
                                   .body =
                                       [&](std::string_view piece) {
                                         if (status == 200)
                                           parser.feed(piece);
                                         else if (refusal.size() < (64U << 10))
                                           refusal += piece;
                                       }};
  reaching(endpoint_, [&] { http.stream(request, receiver, stop); });
  // 204: everything was heard before.
  if (status != 200 && status != 204) throw_answer(endpoint_, status, refusal);
}

TokenInfo ApiClient::create_token(const std::string& name, const std::string& role, const Stop& stop) {
  return token_from(call("POST", "/api/v1/tokens", dump_json({{"name", name}, {"role", role}}), stop));
}

std::vector<TokenInfo> ApiClient::tokens(const Stop& stop) {
  std::vector<TokenInfo> tokens;
  const json answer = call("GET", "/api/v1/tokens", "", stop);
  for (const auto& item : answer.at("items")) tokens.push_back(token_from(item));
  return tokens;
}

TokenInfo ApiClient::revoke_token(const std::string& id_or_name, const Stop& stop) {
  return token_from(call("DELETE", "/api/v1/tokens/" + url_escape(id_or_name), "", stop));
}

}  // namespace forge::cli
