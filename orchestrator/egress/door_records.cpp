#include "orchestrator/egress/door_records.h"

#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::egress {
namespace {

constexpr std::size_t kAnyLines = std::size_t{1} << 30;
constexpr int kHeadShare = 20;

/// Secrets go before the cut: half of one would no longer be known for what it is.
std::string kept_text(const std::string& text, const Redactor& redactor) {
  HeadTail shown = cut_middle(redactor.apply(text), DoorRecords::kMostRequestBytes, kAnyLines, kHeadShare);
  if (shown.cut_bytes == 0) return std::move(shown.head);
  return shown.head + "\n[... " + std::to_string(shown.cut_bytes) + " bytes not kept ...]\n" + shown.tail;
}

std::size_t bytes_of(const DoorRecord& record) { return record.request.size() + record.answer.text.size(); }

}  // namespace

DoorRecords::DoorRecords(Meter& meter, TraceSink& trace, const Redactor& redactor, std::function<void(const std::string&)> failed)
    : meter_(meter), trace_(trace), redactor_(redactor), failed_(std::move(failed)) {
  thread_ = std::jthread([this](const std::stop_token& token) { work(token); });
}

DoorRecords::~DoorRecords() = default;

void DoorRecords::add(DoorRecord record, const Stop& stop) {
  const std::size_t bytes = bytes_of(record);
  auto waiting = waiting_.lock();
  waiting.wait_until(stop.token(), stop.deadline(),
                     [&](const Waiting& now) { return now.failed || now.records.empty() || now.bytes + bytes <= kMostWaitingBytes; });
  if (waiting->failed) return;
  waiting->bytes += bytes;
  waiting->records.push_back(std::move(record));
  waiting.notify_all();
}

void DoorRecords::work(const std::stop_token& token) {
  try {
    while (true) {
      DoorRecord next;
      {
        auto waiting = waiting_.lock();
        waiting.wait(token, [](const Waiting& now) { return !now.records.empty(); });
        if (waiting->records.empty()) return;  // asked to end, and nothing is left
        next = std::move(waiting->records.front());
        waiting->records.pop_front();
        waiting->bytes -= bytes_of(next);
        waiting.notify_all();
      }
      keep(std::move(next));
    }
  } catch (const std::exception& e) {
    failed_(e.what());
    meter_.keep_no_more();
    auto waiting = waiting_.lock();
    waiting->failed = true;
    waiting->records.clear();
    waiting.notify_all();
  }
}

void DoorRecords::keep(DoorRecord record) {
  if (record.billed) meter_.keep(record.counted);
  record.held.release();
  const AnswerRead& answer = record.answer;
  trace_.append(trace::Model{.request_id = redactor_.apply(answer.request_id),
                             .model = record.counted.model,
                             .usage = record.counted.usage,
                             .cost_nano_usd = record.counted.cost_nano_usd,
                             .time_to_first_token_ms = answer.time_to_first_token_ms,
                             .duration_ms = answer.duration_ms,
                             .stop_reason = answer.stop_reason,
                             .status = record.status,
                             .usage_estimated = answer.usage_estimated,
                             .request = {kept_text(record.request, redactor_)},
                             .response = {redactor_.apply(answer.text)}});
}

}  // namespace forge::egress
