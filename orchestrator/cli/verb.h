#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace forge::cli {

/// Where the value of an option goes; the alternative says what it takes: nothing (a switch), one text, one integer, or a text each
/// time it is given.
using OptionTarget = std::variant<bool*, std::string*, std::optional<std::int64_t>*, std::vector<std::string>*>;

/// One option of a verb.
struct Option {
  std::string name;   ///< "--repo"
  std::string value;  ///< what stands for the value in the help: "PATH|URL"; "" for a switch
  std::string help;
  OptionTarget target;
  std::string group{};     ///< heading in the help; empty = "Options"
  std::int64_t least = 0;  ///< range of an integer
  std::int64_t most = 0;
  std::vector<std::string> choices{};  ///< all that a text may be; empty = anything
  bool filled = false;                 ///< an empty text is a mistake, and not the same as saying nothing
};

/// A value without a name: "ID".
struct Positional {
  std::string name;
  std::string help;
  std::string* target = nullptr;
  bool required = true;
};

class Context;
struct ConfigChoice;

/// One verb of the command line, or a group of them. Targets live as long as the verb: its `run` holds them.
struct Verb {
  std::string name;        ///< "run"
  std::string summary;     ///< one line of the overview
  std::string group{};     ///< heading in the overview; empty for verbs of a group
  std::string details{};   ///< paragraphs below the summary, lines broken
  std::string examples{};  ///< shown at the end, each on its own line
  std::vector<Option> options{};
  std::vector<Positional> positionals{};
  std::vector<std::string>* command = nullptr;     ///< receives what stands after "--"; null = nothing may stand there
  std::function<void(ConfigChoice&)> configure{};  ///< adds flags of the verb that set configuration keys; may be empty
  std::optional<int> failure_status{};             ///< of every error, where the exit status is otherwise another program's
  bool needs_config = true;                        ///< read the configuration before `run`
  std::function<int(Context&)> run{};              ///< returns the exit status
  std::vector<Verb> verbs{};                       ///< of a group; such a verb does not run itself
};

}  // namespace forge::cli
