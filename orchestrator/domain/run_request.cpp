#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/domain/budget.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/domain/words.h"

namespace forge {
namespace {

using nlohmann::json;

/// A retry is what people mean who say nothing.
RunKind read_run_kind(JsonReader& reader) {
  const auto name = reader.optional_text("kind");
  const auto kind = name ? parse_run_kind(*name) : RunKind::retry;
  if (!kind || *kind == RunKind::first) throw bad_input("kind", "is not a kind of run", "retry, follow_up or fork");
  return *kind;
}

}  // namespace

NewRun new_run_from_json(const json& body) {
  JsonReader reader(body);
  NewRun wanted{.kind = read_run_kind(reader)};
  wanted.from_run = static_cast<int>(reader.optional_integer("from_run", 1, kMostRuns).value_or(0));
  wanted.note = reader.optional_text("note").value_or("");
  wanted.budget_nano_usd = read_budget(reader);
  reader.finish();
  check_words("note", wanted.note, kNoteBytes);
  check_budget(wanted.budget_nano_usd);
  return wanted;
}

json to_json(const NewRun& wanted) {
  json body = json::object();
  if (wanted.kind != RunKind::retry) body["kind"] = name_of(wanted.kind);
  if (wanted.from_run != 0) body["from_run"] = wanted.from_run;
  if (!wanted.note.empty()) body["note"] = wanted.note;
  if (wanted.budget_nano_usd) body["budget"]["run_nano_usd"] = *wanted.budget_nano_usd;
  return body;
}

}  // namespace forge
