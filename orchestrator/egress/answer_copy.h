#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/usage.h"
#include "orchestrator/models/wire.h"

namespace forge::egress {

/// Which of the paths of a door a request came in on.
enum class DoorPath { messages, chat_completions, responses };

/// What a passed-on answer was, as far as it came.
struct AnswerRead {
  std::string request_id;
  Usage usage;
  bool usage_estimated = false;  ///< the answer told no counts, or ended before the last of them
  std::int64_t time_to_first_token_ms = 0;
  std::int64_t duration_ms = 0;
  std::string stop_reason;  ///< "dropped" when the answer broke off
  std::string text;         ///< what came, cut at kMostKeptBytes
};

/// Reads a copy of an answer beside its way to the agent: whatever is odd in it is no reason to stop that. Of one thread.
class AnswerCopy {
 public:
  /// Of an answer's bytes; a long conversation repeats itself, so that more would fill the disk with little news.
  static constexpr std::size_t kMostKeptBytes = 256 << 10;

  /// Times are counted from here. `request_bytes` is what a guess of its tokens is made of.
  AnswerCopy(DoorPath path, std::size_t request_bytes);
  ~AnswerCopy();
  AnswerCopy(const AnswerCopy&) = delete;
  AnswerCopy& operator=(const AnswerCopy&) = delete;

  void take_head(const net::HttpHead& head);
  void take_body(std::string_view piece);
  /// The body has ended, by itself or not. Call once.
  AnswerRead end();

 private:
  class Heard;
  /// Runs `body` unless the copy has turned out not to be readable.
  template <typename Body>
  void reading(Body&& body);
  void take(const net::SseEvent& event);
  void count(AnswerRead& read);

  const SteadyClock::time_point start_ = SteadyClock::now();
  const std::size_t request_bytes_;
  const models::ModelRequest no_request_;  // what a reader takes ids from; the real one stays unread
  std::unique_ptr<Heard> heard_;
  std::unique_ptr<models::StreamReader> reader_;
  net::SseParser parser_;
  std::string request_id_;
  std::string text_;
  std::string whole_;  // an answer that is no stream
  bool streams_ = false;
  bool readable_ = true;
  std::size_t bytes_ = 0;
  std::int64_t events_ = 0;
};

}  // namespace forge::egress
