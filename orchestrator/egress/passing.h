#pragma once

#include <memory>
#include <optional>
#include <string>

#include "orchestrator/base/redactor.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/egress/answer_copy.h"
#include "orchestrator/egress/asked_model.h"
#include "orchestrator/egress/door_models.h"
#include "orchestrator/httpd/message.h"

namespace forge::egress {

models::WireFormat format_of(DoorPath path);

/// One request from inside on its way to the provider, and the answer on its way back. Bytes of a good answer are passed on as they come
/// and as they are; those of an error are collected first and lose whatever they repeat of our secrets.
class Passing {
 public:
  /// All references outlive this object. `trace` hears that something arrives.
  Passing(DoorPath path, const httpd::Request& request, DoorModel& model, const AskedModel& asked, const Redactor& redactor,
          TraceSink& trace);

  /// Throws what the provider's connection throws (unavailable, also for an answer over its cap), and cancelled or timed_out; before the
  /// answer's head, nothing was told to the agent. An answer that is final for the whole run is not passed on: see refused().
  void run(httpd::AnswerWriter& answer, const Stop& stop);

  /// After run(), also one that threw: the status of the provider's answer; 0 when none came.
  int status() const { return status_; }
  /// The provider does not take our credentials: its words, for people.
  std::optional<std::string> refused() const;
  const std::string& sent_body() const { return sent_.body; }
  /// What the answer was. Call once, at the end.
  AnswerRead read() { return copy_.end(); }

 private:
  void take_head(const net::HttpHead& head, httpd::AnswerWriter& answer);
  void take_body(std::string_view piece, httpd::AnswerWriter& answer);

  const DoorPath path_;
  DoorModel& model_;
  const Redactor& redactor_;
  TraceSink& trace_;
  net::HttpRequest sent_;
  AnswerCopy copy_;
  int status_ = 0;
  std::vector<httpd::Header> error_headers_;
  std::string error_body_;
};

}  // namespace forge::egress
