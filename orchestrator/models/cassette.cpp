#include "orchestrator/models/cassette.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/from_base64.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/numbers.h"
#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"
#include "orchestrator/models/cassette_body.h"

namespace forge::models {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
// Of an answer's headers: what authenticates, and what speaks of one connection only.
constexpr std::array<std::string_view, 9> kNotKept{"set-cookie",          "www-authenticate", "proxy-authenticate",
                                                   "authentication-info", "connection",       "keep-alive",
                                                   "transfer-encoding",   "content-length",   "date"};

/// Without the folder: whoever runs a job sees this, and where things lie is the operator's own business.
Error problem(const std::string& file, const std::string& what, const std::string& hint = {}) {
  const std::string name = std::filesystem::path(file).filename().string();
  return public_failure(ErrorCode::invalid_argument, "the cassette " + name + " " + what).with_hint(hint);
}

/// Said to somebody who may not know that no model answered: what is over, and what it takes to go on. All in the text: of a run that
/// fails, hints are not kept.
Error used_up(const std::string& file, std::size_t exchanges) {
  const std::string name = std::filesystem::path(file).filename().string();
  return public_failure(ErrorCode::invalid_argument,
                        fmt::format("the recording {} is used up: it has {}, and one more was asked for; to ask a real model, set "
                                    "ANTHROPIC_API_KEY or OPENAI_API_KEY, and leave gateway.cassette out",
                                    name, counted(exchanges, "exchange")));
}

Error exists_already(const std::string& file) {
  return problem(file, "exists already and is not overwritten", "remove it to record it anew");
}

/// Path and query of a URL: the host may be another one when the cassette is replayed.
std::string path_of(const std::string& url) {
  const auto host = url.find("://");
  const auto path = url.find('/', host == std::string::npos ? 0 : host + 3);
  return path == std::string::npos ? "/" : url.substr(path);
}

struct Chunk {
  std::chrono::milliseconds delay{0};  // since the one before, or since the request
  std::string bytes;
};

struct Exchanged {
  std::int64_t seq = 0;
  std::string method;
  std::string path;
  std::string hash;
  json body;
  net::HttpHead head;
  std::vector<Chunk> chunks;
  bool cut = false;
};

/// The request's half.
Exchanged asked(const net::HttpRequest& request, const CassetteOptions& options) {
  Exchanged exchange;
  exchange.method = request.method;
  exchange.path = options.redactor.apply(path_of(request.url));
  exchange.body = cassette_body(request.body, options.scrubs, options.redactor);
  exchange.hash = crypto::sha256_hex(dump_json(exchange.body));
  return exchange;
}

/// The pieces without secrets. One may be torn between two pieces, so the whole is looked at: where there is one, the pieces become one.
std::vector<Chunk> without_secrets(const std::vector<Chunk>& chunks, const Redactor& redactor) {
  Chunk whole;
  for (const Chunk& chunk : chunks) {
    whole.delay += chunk.delay;
    whole.bytes += chunk.bytes;
  }
  std::string clean = redactor.apply(whole.bytes);
  if (clean == whole.bytes) return chunks;
  whole.bytes = std::move(clean);
  return {std::move(whole)};
}

std::string line_of(const Exchanged& exchange, const Redactor& redactor) {
  json headers = json::array();
  for (const net::HttpHeader& header : exchange.head.headers)
    if (std::find(kNotKept.begin(), kNotKept.end(), lower_ascii(header.name)) == kNotKept.end())
      headers.push_back({header.name, redactor.apply(header.value)});
  json chunks = json::array();
  for (const Chunk& chunk : without_secrets(exchange.chunks, redactor)) chunks.push_back({chunk.delay.count(), base64(chunk.bytes)});
  json line = {{"seq", exchange.seq},   {"method", exchange.method},      {"path", exchange.path}, {"body_sha256", exchange.hash},
               {"body", exchange.body}, {"status", exchange.head.status}, {"headers", headers},    {"chunks", chunks}};
  if (exchange.cut) line["cut"] = true;
  return dump_json(line) + "\n";
}

Exchanged read_line(const json& line) {
  JsonReader reader(line);
  Exchanged exchange;
  exchange.seq = reader.integer("seq", 1, 1'000'000'000);
  exchange.method = reader.text("method");
  exchange.path = reader.text("path");
  exchange.hash = reader.text("body_sha256");
  if (const json* body = reader.find("body")) exchange.body = *body;
  exchange.head.status = static_cast<int>(reader.integer("status", 100, 599));
  exchange.cut = reader.optional_flag("cut").value_or(false);
  const json* headers = reader.find("headers");
  const json* chunks = reader.find("chunks");
  reader.finish();
  for (const json& header : headers == nullptr ? json::array() : *headers)
    exchange.head.headers.push_back({header.at(0).get<std::string>(), header.at(1).get<std::string>()});
  for (const json& chunk : chunks == nullptr ? json::array() : *chunks) {
    auto bytes = from_base64(chunk.at(1).get<std::string>());
    if (!bytes) throw bad_input("chunks", "is no base64");
    const auto delay_ms = chunk.at(0).get<std::int64_t>();
    if (delay_ms < 0) throw bad_input("chunks", "has a negative delay");
    exchange.chunks.push_back({std::chrono::milliseconds(delay_ms), std::move(*bytes)});
  }
  return exchange;
}

class Recording final : public Cassette {
 public:
  explicit Recording(CassetteOptions options) : options_(std::move(options)) { check(); }
  std::unique_ptr<Transport> around(std::unique_ptr<Transport> transport) override;

  const CassetteOptions& options() const { return options_; }
  /// A number for an exchange that begins. Makes the file for the first one.
  std::int64_t begin();
  void add(const Exchanged& exchange) { write_all(file_, line_of(exchange, options_.redactor), Stop()); }

 private:
  struct State {
    UniqueFd file;
    std::int64_t last = 0;
  };
  /// What can be known before there is anything to write.
  void check() const;
  CassetteOptions options_;
  int file_ = -1;  // state_'s, once it is there; each exchange is one appended write
  Guarded<State> state_;
};

void Recording::check() const {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(options_.file, error))) throw exists_already(options_.file);
  const std::filesystem::path folder = std::filesystem::absolute(options_.file).parent_path();
  if (!std::filesystem::is_directory(folder, error)) throw problem(options_.file, "cannot be made: its folder is not there");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw problem(options_.file, "cannot be made: " + std::string(std::strerror(errno)));
}

std::int64_t Recording::begin() {
  auto state = state_.lock();  // held over the making of the file: once, and nobody can write before it is there
  if (!state->file) {
    UniqueFd file(::open(options_.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) throw exists_already(options_.file);
    if (!file) throw problem(options_.file, "cannot be made: " + std::string(std::strerror(errno)));
    write_all(file.get(), dump_json({{"cassette", kVersion}}) + "\n", Stop());
    state->file = std::move(file);
    file_ = state->file.get();
  }
  return ++state->last;
}

class RecordingTransport final : public Transport {
 public:
  RecordingTransport(Recording& cassette, std::unique_ptr<Transport> inner) : cassette_(cassette), inner_(std::move(inner)) {}

  net::HttpHead stream(const net::HttpRequest& request, const net::HttpReceiver& receiver, const Stop& stop) override {
    Exchanged exchange = asked(request, cassette_.options());
    exchange.seq = cassette_.begin();
    const auto& clock = cassette_.options().now;
    auto last = clock();
    const net::HttpReceiver recorded{.head =
                                         [&](const net::HttpHead& head) {
                                           exchange.head = head;
                                           if (receiver.head) receiver.head(head);
                                         },
                                     .body =
                                         [&](std::string_view piece) {
                                           const auto now = clock();
                                           const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - last);
                                           exchange.chunks.push_back({passed, std::string(piece)});
                                           last = now;
                                           if (receiver.body) receiver.body(piece);
                                         },
                                     .satisfied = receiver.satisfied};
    try {
      inner_->stream(request, recorded, stop);
    } catch (const Error&) {
      exchange.cut = true;
      if (exchange.head.status != 0) cassette_.add(exchange);
      throw;
    }
    cassette_.add(exchange);
    return exchange.head;
  }

 private:
  Recording& cassette_;
  std::unique_ptr<Transport> inner_;
};

std::unique_ptr<Transport> Recording::around(std::unique_ptr<Transport> transport) {
  return std::make_unique<RecordingTransport>(*this, std::move(transport));
}

class Replay final : public Cassette {
 public:
  explicit Replay(CassetteOptions options) : options_(std::move(options)), exchanges_(load()) {
    used_.lock()->assign(exchanges_.size(), false);
  }
  std::unique_ptr<Transport> around(std::unique_ptr<Transport>) override;

  /// The exchange that answers the request, used up by that.
  Exchanged take(const net::HttpRequest& request);
  void wait_for(const Chunk& chunk, const Stop& stop) const { options_.pause(std::min(chunk.delay, kLongestReplayedDelay), stop); }

 private:
  std::vector<Exchanged> load() const;
  Error miss(const Exchanged& wanted, const std::vector<bool>& used) const;

  const CassetteOptions options_;
  const std::vector<Exchanged> exchanges_;
  Guarded<std::vector<bool>> used_;
};

std::vector<Exchanged> Replay::load() const {
  std::error_code error;
  // A FIFO would hold up the start for ever.
  if (std::filesystem::exists(options_.file, error) && !std::filesystem::is_regular_file(options_.file, error))
    throw problem(options_.file, "is no regular file");
  const auto bytes = std::filesystem::file_size(options_.file, error);
  if (!error && bytes > options_.most_bytes)
    throw problem(options_.file,
                  "is " + std::to_string(bytes) + " bytes long, and at most " + std::to_string(options_.most_bytes) + " are read");
  std::ifstream in(options_.file, std::ios::binary);
  if (!in) throw problem(options_.file, "cannot be read");
  std::vector<Exchanged> exchanges;
  int number = 0;
  try {
    for (std::string text; std::getline(in, text); ++number) {
      if (nested_deeper_than(text, kMaxLenientDepth + 1)) throw bad_input("", "is nested too deep");  // a body, and the line around it
      const json line = json::parse(text, nullptr, false);
      if (line.is_discarded()) throw bad_input("", "is no JSON; was it cut?");  // its text stays out of the message: it is somebody's code
      if (number > 0) {
        exchanges.push_back(read_line(line));
      } else if (line.value("cassette", 0) != kVersion) {
        throw bad_input("cassette", "is not " + std::to_string(kVersion));
      }
    }
  } catch (const std::exception& e) {
    throw problem(options_.file, fmt::format("is broken at line {}: {}", number + 1, e.what()));
  }
  if (number == 0) throw problem(options_.file, "is empty");
  std::stable_sort(exchanges.begin(), exchanges.end(), [](const Exchanged& a, const Exchanged& b) { return a.seq < b.seq; });
  return exchanges;
}

Exchanged Replay::take(const net::HttpRequest& request) {
  const Exchanged wanted = asked(request, options_);
  auto used = used_.lock();
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    const Exchanged& there = exchanges_[i];
    if ((*used)[i] || there.hash != wanted.hash || there.method != wanted.method || there.path != wanted.path) continue;
    (*used)[i] = true;
    return there;
  }
  throw miss(wanted, *used);
}

Error Replay::miss(const Exchanged& wanted, const std::vector<bool>& used) const {
  const auto next = std::find(used.begin(), used.end(), false);
  if (next == used.end()) return used_up(options_.file, used.size());
  const Exchanged& there = exchanges_[static_cast<std::size_t>(next - used.begin())];
  const std::string told = fmt::format("does not have this request: the next one in it, number {}, ", there.seq);
  if (there.method != wanted.method || there.path != wanted.path)
    return problem(options_.file, fmt::format("{}is {} {} and not {} {}", told, there.method, there.path, wanted.method, wanted.path));
  const std::string place = first_difference(there.body, wanted.body);
  if (place.empty()) return problem(options_.file, told + "has this body and the body_sha256 of another", "record it anew");
  return problem(options_.file, told + "first differs at " + place);
}

class ReplayTransport final : public Transport {
 public:
  explicit ReplayTransport(Replay& cassette) : cassette_(cassette) {}

  net::HttpHead stream(const net::HttpRequest& request, const net::HttpReceiver& receiver, const Stop& stop) override {
    stop.check();
    const Exchanged exchange = cassette_.take(request);
    if (receiver.head && exchange.chunks.empty()) receiver.head(exchange.head);
    for (std::size_t i = 0; i < exchange.chunks.size(); ++i) {
      cassette_.wait_for(exchange.chunks[i], stop);
      // Only now, with the first piece: when the head came alone is not recorded.
      if (receiver.head && i == 0) receiver.head(exchange.head);
      if (receiver.body) receiver.body(exchange.chunks[i].bytes);
      if (receiver.satisfied && receiver.satisfied()) return exchange.head;
    }
    if (exchange.cut) throw Error(ErrorCode::unavailable, "the recorded answer breaks off here");
    return exchange.head;
  }

 private:
  Replay& cassette_;
};

std::unique_ptr<Transport> Replay::around(std::unique_ptr<Transport>) { return std::make_unique<ReplayTransport>(*this); }

}  // namespace

std::unique_ptr<Cassette> record_cassette(CassetteOptions options) { return std::make_unique<Recording>(std::move(options)); }

std::unique_ptr<Cassette> replay_cassette(CassetteOptions options) { return std::make_unique<Replay>(std::move(options)); }

}  // namespace forge::models
