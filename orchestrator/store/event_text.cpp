#include "orchestrator/store/event_text.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"

namespace forge::store {
namespace {

using nlohmann::json;

// What a reader sees of a long payload before asking for the whole: about two screens, half of it from each end.
constexpr std::size_t kShownBytes = 4 << 10;
constexpr std::size_t kShownLines = 80;

class Cleaner {
 public:
  Cleaner(const Redactor& redactor, const Blobs& blobs) : redactor_(redactor), blobs_(blobs) {}

  json clean(const json& value) {
    if (is_payload(value)) return clean_payload(value.at("text").get_ref<const std::string&>());
    if (value.is_string()) return short_text(value.get_ref<const std::string&>());
    if (!value.is_structured()) return value;
    json result = value;
    for (json& item : result) item = clean(item);
    return result;
  }

  std::size_t replaced() const { return replaced_; }
  std::vector<std::string> take_blobs() { return std::move(named_); }

 private:
  /// How domain's to_json writes a Payload.
  static bool is_payload(const json& value) {
    return value.is_object() && value.size() == 1 && value.contains("text") && value.at("text").is_string();
  }

  std::string clean_string(const std::string& raw) {
    // Redacted before the bytes are touched: a secret may hold bytes that are not UTF-8.
    CleanText clean = to_utf8(redactor_.apply(raw));
    replaced_ += clean.replaced;
    return std::move(clean.text);
  }

  json clean_payload(const std::string& raw) {
    const std::string text = clean_string(raw);
    if (text.size() <= Payload::kInlineBytes) return {{"text", text}};
    HeadTail shown = cut_middle(text, kShownBytes, kShownLines, 50);
    named_.push_back(blobs_.put(text));
    return {{"head", std::move(shown.head)}, {"tail", std::move(shown.tail)}, {"bytes", text.size()}, {"blob", named_.back()}};
  }

  std::string short_text(const std::string& raw) {
    std::string text = clean_string(raw);
    if (text.size() <= Payload::kInlineBytes) return text;
    const HeadTail shown = cut_middle(text, kShownBytes, kShownLines, 50);
    return shown.head + "\n[... " + std::to_string(shown.cut_bytes) + " bytes cut ...]\n" + shown.tail;
  }

  const Redactor& redactor_;
  const Blobs& blobs_;
  std::size_t replaced_ = 0;
  std::vector<std::string> named_;
};

}  // namespace

EventText event_text(const TraceData& data, std::optional<int> turn, const Redactor& redactor, const Blobs& blobs) {
  Cleaner cleaner(redactor, blobs);
  json cleaned = cleaner.clean(to_json(data));
  if (cleaner.replaced() > 0) cleaned["replaced"] = cleaner.replaced();
  return {.type = type_of(data), .turn = turn, .data_json = dump_json(cleaned), .blobs = cleaner.take_blobs()};
}

std::string clean_text(std::string_view text, const Redactor& redactor) { return to_utf8(redactor.apply(text)).text; }

}  // namespace forge::store
