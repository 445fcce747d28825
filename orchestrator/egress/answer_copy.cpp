#include "orchestrator/egress/answer_copy.h"

#include <algorithm>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/models/anthropic.h"
#include "orchestrator/models/openai.h"

namespace forge::egress {
namespace {

constexpr std::int64_t kBytesPerToken = 4;
// An answer that does not stream is kept whole until its end; no model says more than this at once.
constexpr std::size_t kMostWholeBytes = 32 << 20;

std::int64_t ms_since(SteadyClock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start).count();
}

std::unique_ptr<models::StreamReader> reader_of(DoorPath path, const models::ModelRequest& request, models::ModelObserver& observer) {
  switch (path) {
    case DoorPath::messages: return models::make_anthropic_reader(observer);
    case DoorPath::chat_completions: return models::make_openai_reader(request, observer);
    case DoorPath::responses: return models::make_responses_reader(observer);
  }
  throw Error(ErrorCode::internal, "a path of the door without a reader");
}

}  // namespace

/// When the first words came, and how many.
class AnswerCopy::Heard final : public models::ModelObserver {
 public:
  explicit Heard(SteadyClock::time_point start) : start_(start) {}
  void text_delta(std::string_view text) override { note(text); }
  void thinking_delta(std::string_view text) override { note(text); }
  std::int64_t first_ms() const { return first_ms_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  void note(std::string_view text) {
    if (first_ms_ < 0) first_ms_ = ms_since(start_);
    bytes_ += static_cast<std::int64_t>(text.size());
  }
  SteadyClock::time_point start_;
  std::int64_t first_ms_ = -1;
  std::int64_t bytes_ = 0;
};

AnswerCopy::AnswerCopy(DoorPath path, std::size_t request_bytes)
    : request_bytes_(request_bytes),
      heard_(std::make_unique<Heard>(start_)),
      reader_(reader_of(path, no_request_, *heard_)),
      parser_([this](const net::SseEvent& event) { take(event); }) {}

AnswerCopy::~AnswerCopy() = default;

void AnswerCopy::take_head(const net::HttpHead& head) {
  streams_ = lower_ascii(head.header("content-type").value_or("")).find("event-stream") != std::string::npos;
  request_id_ = head.header("request-id").value_or(head.header("x-request-id").value_or(""));
}

template <typename Body>
void AnswerCopy::reading(Body&& body) {
  if (!readable_) return;
  try {
    std::forward<Body>(body)();
  } catch (const Error&) {
    // The agent gets the bytes as they are and may understand them; here what was counted so far stands, and end() guesses the rest.
    readable_ = false;
  }
}

void AnswerCopy::take_body(std::string_view piece) {
  bytes_ += piece.size();
  if (text_.size() < kMostKeptBytes) text_ += piece.substr(0, kMostKeptBytes - text_.size());
  if (streams_) {
    reading([&] { parser_.feed(piece); });
  } else if (whole_.size() < kMostWholeBytes) {
    whole_ += piece;
  }
}

void AnswerCopy::take(const net::SseEvent& event) {
  ++events_;
  if (!reader_->complete() && !reader_->error()) reader_->take(event);
}

AnswerRead AnswerCopy::end() {
  if (!streams_) reading([&] { take({.name = {}, .data = whole_, .id = {}}); });
  AnswerRead read;
  read.request_id = request_id_;
  count(read);
  read.duration_ms = ms_since(start_);
  read.time_to_first_token_ms = heard_->first_ms() < 0 ? read.duration_ms : heard_->first_ms();
  read.text = std::move(text_);
  if (bytes_ == read.text.size()) return read;
  read.text.resize(read.text.rfind('\n') + 1);  // half a line might end in half a secret, which is no longer known for one
  read.text += "\n[... " + std::to_string(bytes_ - read.text.size()) + " bytes not kept ...]";
  return read;
}

void AnswerCopy::count(AnswerRead& read) {
  read.usage_estimated = true;
  if (readable_ && reader_->whole()) {
    const models::ModelResponse response = reader_->response();
    if (read.request_id.empty()) read.request_id = response.request_id;
    read.stop_reason = models::name_of(response.stop_reason);
    read.usage = response.usage;
    read.usage_estimated = response.usage_estimated || response.usage.total() == 0;
  } else {
    read.stop_reason = "dropped";
    read.usage = reader_->usage();
  }
  if (!read.usage_estimated) return;
  // Billed all the same: the counts of a stream's end are missing, or all of them.
  const std::int64_t asked = read.usage.input + read.usage.cache_read + read.usage.cache_write;
  if (asked == 0) read.usage.input = static_cast<std::int64_t>(request_bytes_) / kBytesPerToken;
  // What could not be read to its end (packed, not in the grammar, an event beyond all size) is taken by its length: too much, and not
  // free.
  const bool heard = streams_ && readable_ && (events_ > 0 || bytes_ == 0);
  const std::int64_t said = heard ? heard_->bytes() : static_cast<std::int64_t>(bytes_);
  read.usage.output = std::max(read.usage.output, said / kBytesPerToken);
}

}  // namespace forge::egress
