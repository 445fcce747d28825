#include "orchestrator/cli/app.h"

#include <csignal>
#include <exception>
#include <filesystem>
#include <optional>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/exit_code.h"
#include "orchestrator/cli/parser.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

/// What a person reads: the text for clients where there is one, with the field it is about.
std::string message_of(const Error& e) {
  const std::string text = e.client_text().empty() ? e.what() : e.client_text();
  const bool named = e.field().empty() || text.find(e.field()) != std::string::npos;
  return named ? text : e.field() + ": " + text;
}

/// One line that says what, one that says what to do. Texts may come from servers and repositories, so they are made harmless.
int report(const Console& console, const Error& e) {
  console.note(console.err_paint.red("forge:") + " " + harmless(message_of(e)));
  if (!e.hint().empty()) console.note("  " + harmless(e.hint()));
  return number(exit_code_of(e.code()));
}

/// Warnings are shown each time: a key that others can read does not get better by being known.
void configure(const Verb& verb, ConfigChoice choice, Services& services, const Console& console) {
  if (!verb.needs_config) return;
  if (verb.configure) verb.configure(choice);
  services.configure(choice);
  for (const auto& warning : services.config_warnings()) console.note(console.err_paint.yellow("warning:") + " " + warning);
}

/// Runs `body`; an error is printed and becomes an exit status.
template <typename Body>
int reporting(const Console& console, const std::optional<int>& failure_status, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& e) {
    const int status = report(console, e);
    return failure_status.value_or(status);
  } catch (const OutputClosed&) {
    return kOutputClosed;
  } catch (const std::filesystem::filesystem_error& e) {  // somebody's path, of which the system wants to hear nothing
    const std::string path = one_line(e.path1().string(), 200);
    const int status = report(console, system_failure(path, e.code().value()));
    return failure_status.value_or(status);
  } catch (const std::exception& e) {  // a library's own: our fault, whatever it was
    const int status = report(console, Error(ErrorCode::internal, std::string("internal error: ") + e.what()));
    return failure_status.value_or(status);
  }
}

int run_verb(const Verb& verb, const ConfigChoice& choice, Services& services, const Console& console, Interrupts& interrupts) {
  return reporting(console, verb.failure_status, [&] {
    configure(verb, choice, services, console);
    Context context(services, console, interrupts);
    return verb.run(context);
  });
}

}  // namespace

int run_cli(const std::vector<std::string>& args, Services& services, const Console& console) {
  ::signal(SIGPIPE, SIG_IGN);
  Interrupts interrupts;
  return reporting(console, {}, [&] {
    const std::vector<Verb> verbs = all_verbs();
    const Parsed parsed = parse_command_line(args, verbs);
    if (parsed.verb != nullptr) return run_verb(*parsed.verb, parsed.config, services, console, interrupts);
    if (parsed.asked) {
      console.print(parsed.text);
      return 0;
    }
    console.note(parsed.text.substr(0, parsed.text.find_last_not_of('\n') + 1));
    return number(ExitCode::usage);
  });
}

int run_cli(int argc, char** argv, Services& services) {
  return run_cli(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), services, standard_console());
}

std::vector<Verb> all_verbs() {
  return {run_verb(),   jobs_verb(),  show_verb(),    cancel_verb(), retry_verb(),   review_verb(), apply_verb(),
          serve_verb(), token_verb(), sandbox_verb(), doctor_verb(), adapter_verb(), config_verb(), version_verb()};
}

}  // namespace forge::cli
