#include "orchestrator/cli/parser.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <list>
#include <map>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/cli/help.h"

namespace forge::cli {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end ? std::optional(value) : std::nullopt;
}

/// An option as the library knows it. It collects texts; what they mean is checked here, so that the messages are ours.
class Binding {
 public:
  Binding(CLI::App& app, const Option& option) : option_(option) {
    if (std::holds_alternative<bool*>(option.target)) {
      made_ = app.add_flag(option.name);
      return;
    }
    // One value each time; without allow_extra_args(false) a text such as "[a,b]" would be taken apart.
    made_ = app.add_option(option.name)->type_size(1)->expected(1)->allow_extra_args(false);
    made_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  void deliver() const {
    if (made_->count() != 0) std::visit([this](auto* into) { store(into); }, option_.target);
  }

 private:
  void store(bool* into) const {
    for (const auto& value : made_->results())
      if (value != "true") throw bad_input("", fmt::format("{} takes no value", option_.name));
    *into = true;
  }
  void store(std::vector<std::string>* into) const { *into = made_->results(); }

  void store(std::string* into) const {
    const std::string text = only_value();
    if (!option_.choices.empty() && std::find(option_.choices.begin(), option_.choices.end(), text) == option_.choices.end())
      throw bad_input(option_.name, fmt::format("{} must be one of {}, not \"{}\"", option_.name, fmt::join(option_.choices, ", "), text));
    if (option_.filled && text.empty()) throw bad_input(option_.name, fmt::format("{} is empty", option_.name), option_.value);
    *into = text;
  }

  void store(std::optional<std::int64_t>* into) const {
    const std::string text = only_value();
    const auto number = whole_number(text);
    if (!number || *number < option_.least || *number > option_.most)
      throw bad_input(option_.name,
                      fmt::format("{} must be an integer from {} to {}, not \"{}\"", option_.name, option_.least, option_.most, text));
    *into = number;
  }

  /// Given twice, one of them is a mistake; the last one winning would hide it.
  std::string only_value() const {
    if (made_->results().size() != 1)
      throw bad_input(option_.name, fmt::format("{} is given more than once", option_.name), "give it once");
    return made_->results().front();
  }

  const Option& option_;
  CLI::Option* made_ = nullptr;
};

/// One command line: the library's tree beside ours.
class Parse {
 public:
  explicit Parse(const std::vector<Verb>& verbs) : verbs_(verbs), root_("", "forge") {
    root_.allow_extras()->require_subcommand(0, 1);
    options_ = common_options();
    options_.pop_back();  // --help is the library's
    options_[0].target = &config_.file;
    options_[1].target = &config_.data_dir;
    options_[2].target = &settings_;
    for (const Option& option : options_) bindings_.emplace_back(root_, option);
    for (const Verb& verb : verbs) add_verb(root_, verb);
  }

  Parsed run(const std::vector<std::string>& args, const std::vector<std::string>* command) {
    try {
      root_.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // the library takes them from the back
    } catch (const CLI::CallForHelp&) {
      return {.text = help()};
    } catch (const CLI::ArgumentMismatch& e) {
      const std::string text = e.what();
      throw bad_input("", text.substr(0, text.find(':')) + " needs a value", hint());
    } catch (const CLI::ParseError& e) {
      throw bad_input("", e.what(), hint());
    }
    refuse_leftovers();
    if (chosen() == nullptr || !known_.at(chosen())->verbs.empty()) return {.verb = nullptr, .text = help(), .config = {}, .asked = false};
    const Verb& verb = *known_.at(chosen());
    for (const Binding& binding : bindings_) binding.deliver();
    for (const auto& [option, target] : positionals_)
      if (option->count() != 0) *target = option->results().front();
    if (verb.command == nullptr && command != nullptr) throw bad_input("", fmt::format("{} takes no command after --", name()), hint());
    if (command != nullptr) *verb.command = *command;
    deliver_settings();
    return {.verb = &verb, .text = {}, .config = std::move(config_)};
  }

 private:
  void add_verb(CLI::App& parent, const Verb& verb) {
    CLI::App* app = parent.add_subcommand(verb.name);
    known_[app] = &verb;
    // --data-dir and its sisters may stand behind the verb.
    app->allow_extras()->require_subcommand(0, 1)->fallthrough();
    for (const Option& option : verb.options) bindings_.emplace_back(*app, option);
    for (const Positional& positional : verb.positionals) {
      CLI::Option* made = app->add_option(positional.name)->type_size(1)->expected(1)->allow_extra_args(false);
      if (positional.required) made->required();
      positionals_.emplace_back(made, positional.target);
    }
    for (const Verb& inner : verb.verbs) add_verb(*app, inner);
  }

  /// The innermost verb that was named; null when none was.
  const CLI::App* chosen() const {
    const CLI::App* app = nullptr;
    for (auto named = root_.get_subcommands(); !named.empty(); named = app->get_subcommands()) app = named.front();
    return app;
  }

  /// "forge sandbox run"
  std::string name() const {
    std::string words;
    for (const CLI::App* app = chosen(); app != nullptr && app->get_parent() != nullptr; app = app->get_parent())
      words.insert(0, " " + app->get_name());
    return "forge" + words;
  }
  std::string help() const { return chosen() == nullptr ? overview(verbs_) : help_of(name(), *known_.at(chosen())); }
  std::string hint() const { return fmt::format("`{} --help` shows what it takes", name()); }

  /// The library is told to let unknown words pass, because its own errors name no neighbours.
  void refuse_leftovers() const {
    for (const std::string& word : root_.remaining(true)) {
      if (word.starts_with('-') && word.size() > 1) refuse_option(word.substr(0, word.find('=')));
      if (chosen() == nullptr) refuse_verb(word, verbs_);
      if (!known_.at(chosen())->verbs.empty()) refuse_verb(word, known_.at(chosen())->verbs);
      const bool command = known_.at(chosen())->command != nullptr;
      throw bad_input("", fmt::format("unexpected argument \"{}\"", word), command ? "write the command after --" : hint());
    }
  }

  /// Names the nearest option of the verb, of the groups around it, and of those that every verb takes.
  [[noreturn]] void refuse_option(const std::string& word) const {
    std::vector<std::string> names{"--help"};
    for (const Option& option : options_) names.push_back(option.name);
    for (const CLI::App* app = chosen(); app != nullptr && known_.contains(app); app = app->get_parent())
      for (const Option& option : known_.at(app)->options) names.push_back(option.name);
    const std::string near = nearest(word, names);
    throw bad_input("", fmt::format("unknown option {}", word), near.empty() ? hint() : fmt::format("did you mean {}?", near));
  }

  [[noreturn]] void refuse_verb(const std::string& word, const std::vector<Verb>& among) const {
    std::vector<std::string> names;
    for (const Verb& verb : among) names.push_back(verb.name);
    const std::string near = nearest(word, names);
    throw bad_input("", fmt::format("unknown verb \"{}\"", word),
                    near.empty() ? fmt::format("`{} --help` lists them", name()) : fmt::format("did you mean {}?", near));
  }

  void deliver_settings() {
    for (const std::string& setting : settings_) {
      const auto equals = setting.find('=');
      if (equals == 0 || equals == setting.npos)
        throw bad_input("--set", fmt::format("--set {} is not KEY=VALUE", setting), "for example --set jobs.max_turns=20");
      config_.overrides.push_back({setting.substr(0, equals), setting.substr(equals + 1), "--set"});
    }
  }

  const std::vector<Verb>& verbs_;
  CLI::App root_;
  std::vector<Option> options_;  // of the root; bindings refer to them
  std::list<Binding> bindings_;
  std::vector<std::pair<CLI::Option*, std::string*>> positionals_;
  std::map<const CLI::App*, const Verb*> known_;
  ConfigChoice config_;
  std::vector<std::string> settings_;
};

/// What people type of habit: `forge help VERB` and `forge --version`.
std::vector<std::string> with_habits(std::vector<std::string> args) {
  if (args.empty()) return args;
  if (args == std::vector<std::string>{"--version"}) return {"version"};
  if (args.front() != "help") return args;
  args.erase(args.begin());
  args.emplace_back("--help");
  return args;
}

}  // namespace

Parsed parse_command_line(const std::vector<std::string>& args, const std::vector<Verb>& verbs) {
  // What stands after "--" belongs to a command, whatever it looks like; the library never sees it.
  const auto dashes = std::find(args.begin(), args.end(), "--");
  const std::vector<std::string> own = with_habits({args.begin(), dashes});
  if (dashes == args.end()) return Parse(verbs).run(own, nullptr);
  const std::vector<std::string> command(dashes + 1, args.end());
  return Parse(verbs).run(own, &command);
}

}  // namespace forge::cli
