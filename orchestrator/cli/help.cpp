#include "orchestrator/cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/cli/console.h"

namespace forge::cli {
namespace {

// Wide enough for "--task-file FILE|-"; longer ones get a line of their own.
constexpr std::size_t kNameColumns = 24;

std::string row(const std::string& name, const std::string& text) {
  if (columns_of(name) > kNameColumns) return fmt::format("  {}\n  {}  {}\n", name, std::string(kNameColumns, ' '), text);
  return fmt::format("  {}  {}\n", padded(name, kNameColumns), text);
}

std::string row_of(const Option& option) {
  const bool repeats = std::holds_alternative<std::vector<std::string>*>(option.target);
  std::string text = option.help;
  if (!option.choices.empty()) text += fmt::format(" ({})", fmt::join(option.choices, ", "));
  if (repeats) text += " (repeatable)";
  return row(option.value.empty() ? option.name : option.name + " " + option.value, text);
}

/// Groups in the order of their first member.
template <typename Item, typename Name, typename Print>
std::string grouped(const std::vector<Item>& items, Name&& name_of_group, Print&& print) {
  std::vector<std::string> groups;
  for (const Item& item : items)
    if (std::find(groups.begin(), groups.end(), name_of_group(item)) == groups.end()) groups.push_back(name_of_group(item));
  std::string text;
  for (const auto& group : groups) {
    text += "\n" + group + ":\n";
    for (const Item& item : items)
      if (name_of_group(item) == group) text += print(item);
  }
  return text;
}

std::string group_of(const Option& option) { return option.group.empty() ? "Options" : option.group; }

/// "Usage: forge show ID [OPTIONS]"
std::string usage_line(const std::string& name, const Verb& verb) {
  std::string line = "Usage: " + name;
  if (!verb.verbs.empty()) return line + " VERB ...\n";
  for (const auto& positional : verb.positionals) line += positional.required ? " " + positional.name : " [" + positional.name + "]";
  line += " [OPTIONS]";
  if (verb.command != nullptr) line += " -- COMMAND...";
  return line + "\n";
}

std::string verb_row(const Verb& verb) { return row(verb.name, verb.summary); }

}  // namespace

std::string overview(const std::vector<Verb>& verbs) {
  std::string text = "Forge runs coding agents on repositories, in sandboxes.\n\nUsage: forge VERB ...\n";
  text += grouped(
      verbs, [](const Verb& verb) { return verb.group; }, verb_row);
  return text + "\n`forge VERB --help` shows the options and examples of a verb. To begin: forge doctor\n";
}

std::string help_of(const std::string& name, const Verb& verb) {
  std::string text = verb.summary + ".\n";
  if (!verb.details.empty()) text += "\n" + verb.details + "\n";
  text += "\n" + usage_line(name, verb);
  if (!verb.verbs.empty())
    text += grouped(
        verb.verbs, [](const Verb&) { return std::string("Verbs"); }, verb_row);
  if (!verb.positionals.empty()) text += "\nArguments:\n";
  for (const auto& positional : verb.positionals) text += row(positional.name, positional.help);
  text += grouped(verb.options, group_of, row_of);
  text += grouped(common_options(), group_of, row_of);
  if (!verb.examples.empty()) text += "\nExamples:\n" + verb.examples + "\n";
  return text;
}

std::vector<Option> common_options() {
  return {
      {.name = "--config", .value = "FILE", .help = "Read FILE instead of <data>/forge.toml", .target = {}, .group = "Everywhere"},
      {.name = "--data-dir", .value = "DIR", .help = "Use DIR instead of FORGE_DATA_DIR", .target = {}, .group = "Everywhere"},
      {.name = "--set", .value = "KEY=VALUE", .help = "Set a configuration key (repeatable)", .target = {}, .group = "Everywhere"},
      {.name = "--help", .value = "", .help = "Show this help", .target = {}, .group = "Everywhere"},
  };
}

}  // namespace forge::cli
