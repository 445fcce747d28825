#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/hunk_choice.h"
#include "orchestrator/cli/review_text.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/verbs.h"
#include "orchestrator/cli/watch.h"

namespace forge::cli {
namespace {

struct ReviewOptions {
  std::string id;
  std::optional<std::int64_t> run;
  bool diff = false;
  bool patch = false;
  bool accepted = false;
  bool json = false;
  HunkChoice choice;
  std::string comment;
  std::string body;
  std::string suggestion;
  bool apply = false;
  std::string message;
  bool no_push = false;
  bool confirm_undecided = false;
  bool send_back = false;
  std::string note;
  bool dismiss = false;
  ServerChoice server;

  bool ends() const { return apply || send_back || dismiss; }
  bool writes() const { return ends() || !choice.empty() || !comment.empty(); }
};

/// An option that means something only beside another one.
struct Dependent {
  bool given;
  const char* option;
  bool other_given;
  const char* other;
};

void check_review_options(const ReviewOptions& o) {
  const Dependent dependents[] = {{o.accepted, "--accepted", o.patch, "--patch"},
                                  {!o.choice.reason.empty(), "--reason", !o.choice.reject.empty(), "--reject"},
                                  {!o.body.empty(), "--body", !o.comment.empty(), "--comment"},
                                  {!o.suggestion.empty(), "--suggest", !o.comment.empty(), "--comment"},
                                  {!o.message.empty(), "--message", o.apply, "--apply"},
                                  {o.no_push, "--no-push", o.apply, "--apply"},
                                  {o.confirm_undecided, "--confirm-undecided", o.apply, "--apply"},
                                  {!o.note.empty(), "--note", o.send_back, "--send-back"}};
  for (const Dependent& one : dependents)
    if (one.given && !one.other_given) throw bad_input("", fmt::format("{} goes with {}", one.option, one.other));
  if (o.diff + o.patch + o.json > 1) throw bad_input("", "--diff, --patch and --json exclude each other", "choose one");
  if (o.apply + o.send_back + o.dismiss > 1) throw bad_input("", "--apply, --send-back and --dismiss exclude each other", "choose one");
  if ((o.diff || o.patch) && o.writes()) throw bad_input("", "--diff and --patch only show", "leave them out, or the options that change");
  if (!o.comment.empty() && o.body.empty() && o.suggestion.empty())
    throw bad_input("", "--comment needs a text", "--body TEXT, or --suggest TEXT");
}

int line_number(std::string_view text, const std::string& place) {
  int line = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line);
  if (error != std::errc() || end != text.data() + text.size() || line < 1)
    throw bad_input("", fmt::format("--comment {} does not name lines", one_line(place, 120)), "PATH:LINE or PATH:FIRST-LAST");
  return line;
}

/// PATH:LINE or PATH:LINE-LINE, on the head side.
NewComment comment_of(const ReviewOptions& o) {
  const auto colon = o.comment.rfind(':');
  const std::string_view lines = colon == o.comment.npos ? "" : std::string_view(o.comment).substr(colon + 1);
  const auto dash = lines.find('-');
  const int first = line_number(lines.substr(0, dash), o.comment);
  const int last = dash == lines.npos ? first : line_number(lines.substr(dash + 1), o.comment);
  if (last < first) throw bad_input("", fmt::format("--comment {} ends before it begins", one_line(o.comment, 120)));
  const std::string path = o.comment.substr(o.comment.starts_with("./") ? 2 : 0, colon - (o.comment.starts_with("./") ? 2 : 0));
  return {.path = path,
          .start_line = first,
          .end_line = last,
          .quote = {},
          .body = o.body,
          .suggestion = o.suggestion.empty() ? std::nullopt : std::optional(o.suggestion)};
}

/// One review that is read, changed and read again; `review_` is how it was when we last saw it.
class Reviewing {
 public:
  Reviewing(Context& context, Connection& connection, const ReviewOptions& options)
      : context_(context),
        connection_(connection),
        client_(connection.client),
        options_(options),
        review_(client_.review(job_id(options.id), static_cast<int>(options.run.value_or(0)), context.stop)) {}

  /// Returns the exit status.
  int run() {
    if (!options_.writes()) return list();
    decide();
    comment();
    if (options_.apply) return apply();
    if (options_.send_back) return send_back();
    if (options_.dismiss) dismiss();
    if (options_.json) context_.console.print(dump_json(to_json(review_)) + "\n");
    return 0;
  }

 private:
  /// Runs `write`; where somebody was first, says what they did. What a person decides, they decide on what they have seen.
  template <typename Write>
  auto unless_changed(Write&& write) {
    try {
      return write();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::precondition_failed) throw;
    }
    const Review now = client_.review(job(), review_.run, context_.stop);
    std::string text = fmt::format("somebody was first: the review was at revision {} and is at {}", review_.revision, now.revision);
    for (const std::string& change : review_changes(review_, now)) text += "\n  " + change;
    throw public_failure(ErrorCode::precondition_failed, text).with_hint("look at it, then give the command again");
  }

  int list() {
    if (options_.json) {
      context_.console.print(dump_json(to_json(review_)) + "\n");
      return 0;
    }
    const std::string diff = options_.diff ? client_.diff(job(), review_.run, context_.stop) : "";
    const auto bodies = hunk_bodies(review_, diff);
    if (options_.diff && !bodies) context_.console.note("the diff is not that of the review: its lines are left out");
    context_.console.print(review_text(review_, options_.diff && bodies ? &*bodies : nullptr, context_.console.out_paint));
    return 0;
  }

  void decide() {
    if (options_.choice.empty()) return;
    const ReviewEdit edit{.summary = {}, .marks = chosen_marks(review_, options_.choice), .suggestions = {}, .viewed = {}};
    if (edit.marks.empty()) return tell("nothing to change: the verdicts are there already");
    review_ = unless_changed([&] { return client_.edit_review(job(), review_.run, review_.revision, edit, context_.stop); });
    tell(fmt::format("revision {}: {}", review_.revision, counts_text(count_hunks(review_))));
  }

  void comment() {
    if (options_.comment.empty()) return;
    client_.add_comment(job(), review_.run, comment_of(options_), context_.stop);
    tell("commented on " + one_line(options_.comment, 200));
    if (options_.ends() || options_.json) review_ = client_.review(job(), review_.run, context_.stop);
  }

  int apply() {
    const ReviewCounts counts = count_hunks(review_);
    const bool dismissed = review_.status == ReviewStatus::dismissed;  // which the server says
    if (counts.undecided != 0 && !options_.confirm_undecided && !dismissed)
      throw public_failure(ErrorCode::conflict,
                           fmt::format("{} of the hunks are undecided, and an apply leaves these out", counts.undecided))
          .with_hint("decide them first, or add --confirm-undecided");
    const ApplyRequest request{.revision = review_.revision,
                               .message = options_.message,
                               .push = !options_.no_push,
                               .confirm_undecided = options_.confirm_undecided,
                               .key = {}};
    const AppliedReview applied = unless_changed([&] { return client_.apply_review(job(), review_.run, request, context_.stop); });
    if (options_.json)
      context_.console.print(dump_json(to_json(applied)) + "\n");
    else
      context_.console.print(fmt::format("commit {} on {}{}: {} accepted, {} rejected, {} undecided\n", applied.commit.substr(0, 10),
                                         applied.branch, applied.pushed ? ", pushed" : ", not pushed", applied.accepted, applied.rejected,
                                         applied.undecided));
    return 0;
  }

  int send_back() {
    const SendBackRequest request{.revision = review_.revision, .note = options_.note, .key = {}};
    const Run run = unless_changed([&] { return client_.send_back(job(), review_.run, request, context_.stop); });
    context_.console.note(fmt::format("job {}, run {}", context_.console.err_paint.bold(short_id(run.job)), run.number));
    return watch_run(context_, connection_, run.job, run.number, {.json = options_.json}, OnInterrupt::cancel_job);
  }

  void dismiss() {
    review_ = unless_changed([&] { return client_.dismiss_review(job(), review_.run, review_.revision, context_.stop); });
    tell("the review is dismissed");
  }

  /// What was done, for people; with --json standard output is kept for the object at the end.
  void tell(const std::string& line) const {
    if (options_.json)
      context_.console.note(line);
    else
      context_.console.print(line + "\n");
  }
  std::string job() const { return review_.job.str(); }

  Context& context_;
  Connection& connection_;
  ApiClient& client_;
  const ReviewOptions& options_;
  Review review_;
};

int review(Context& context, const ReviewOptions& options) {
  check_review_options(options);
  if (!options.comment.empty()) comment_of(options);  // a slip is told before anything is changed
  const std::string id = job_id(options.id);
  Connection connection = connect(context, options.server, options.send_back ? EngineUse::work : EngineUse::look);
  if (!options.patch) return Reviewing(context, connection, options).run();
  const PatchPart part = options.accepted ? PatchPart::accepted : PatchPart::all;
  const std::string patch = connection.client.patch(id, static_cast<int>(options.run.value_or(0)), part, context.stop);
  context.console.print(context.console.out_is_terminal ? harmless(patch) : patch);
  return 0;
}

std::vector<Option> showing_options(ReviewOptions& o) {
  return {{.name = "--diff", .value = {}, .help = "With the lines of each hunk", .target = &o.diff},
          {.name = "--patch", .value = {}, .help = "Print the change as a patch that git apply takes", .target = &o.patch},
          {.name = "--accepted", .value = {}, .help = "With --patch: the accepted hunks only", .target = &o.accepted},
          {.name = "--run", .value = "N", .help = "Another run than the latest", .target = &o.run, .least = 1, .most = 1'000'000},
          {.name = "--json", .value = {}, .help = "As one JSON object: the review, or what came of the last word", .target = &o.json}};
}

std::vector<Option> saying_options(ReviewOptions& o) {
  const char* const verdicts = "Verdicts";
  const char* const comments = "Comments";
  return {{.name = "--accept", .value = "HUNK|FILE|all", .help = "Take it", .target = &o.choice.accept, .group = verdicts},
          {.name = "--reject", .value = "HUNK|FILE|all", .help = "Leave it out", .target = &o.choice.reject, .group = verdicts},
          {.name = "--undecide", .value = "HUNK|FILE|all", .help = "Take a verdict back", .target = &o.choice.undecide, .group = verdicts},
          {.name = "--reason",
           .value = "TEXT",
           .help = "Why it is rejected; the agent hears it",
           .target = &o.choice.reason,
           .group = verdicts},
          {.name = "--comment",
           .value = "PATH:LINE[-LINE]",
           .help = "Comment on lines of the result",
           .target = &o.comment,
           .group = comments,
           .filled = true},
          {.name = "--body", .value = "TEXT", .help = "What the comment says", .target = &o.body, .group = comments},
          {.name = "--suggest", .value = "TEXT", .help = "Lines to put in place of those", .target = &o.suggestion, .group = comments}};
}

std::vector<Option> ending_options(ReviewOptions& o) {
  const char* const group = "The last word";
  return {{.name = "--apply",
           .value = {},
           .help = "Make one commit of what is accepted, on a branch of its own",
           .target = &o.apply,
           .group = group},
          {.name = "--message", .value = "TEXT", .help = "Of the commit; the run's own unless said", .target = &o.message, .group = group},
          {.name = "--no-push", .value = {}, .help = "Keep the commit in Forge", .target = &o.no_push, .group = group},
          {.name = "--confirm-undecided",
           .value = {},
           .help = "Apply and leave out what is undecided",
           .target = &o.confirm_undecided,
           .group = group},
          {.name = "--send-back",
           .value = {},
           .help = "Have the agent go on, told what the review says; watch it",
           .target = &o.send_back,
           .group = group},
          {.name = "--note", .value = "TEXT", .help = "What it is told besides", .target = &o.note, .group = group},
          {.name = "--dismiss", .value = {}, .help = "Put it aside", .target = &o.dismiss, .group = group}};
}

}  // namespace

Verb review_verb() {
  const auto o = std::make_shared<ReviewOptions>();
  Verb verb{.name = "review",
            .summary = "Review what a run changed, hunk by hunk; apply it or send it back",
            .group = "Jobs",
            .details =
                "A HUNK is its number in the list or the first 6 digits or more of its id. What is said of a hunk goes before what is\n"
                "said of its file, and that before all. Verdicts come first, then the comment, then the last word.\n"
                "\n"
                "Exit status: as `forge run` with --send-back; else 0, or 1 when it is refused.",
            .examples =
                "  forge review 06f3m2k9qa --diff\n"
                "  forge review 06f3m2k9qa --accept all --reject 3 --reason \"Keep the old name.\"\n"
                "  forge review 06f3m2k9qa --comment src/a.c:12-14 --body \"Why twice?\"\n"
                "  forge review 06f3m2k9qa --accept src/a.c --apply --confirm-undecided\n"
                "  forge review 06f3m2k9qa --send-back --note \"Add a test, too.\"\n"
                "  forge review 06f3m2k9qa --patch --accepted | git apply",
            .positionals = {{.name = "ID", .help = "The job's id, or its first 6 characters or more", .target = &o->id}},
            .run = [o](Context& context) { return review(context, *o); }};
  for (const auto& group : {showing_options(*o), saying_options(*o), ending_options(*o), server_options(o->server)})
    verb.options.insert(verb.options.end(), group.begin(), group.end());
  return verb;
}

}  // namespace forge::cli
