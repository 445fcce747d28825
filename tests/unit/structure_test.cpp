// Reads the tree and holds it to its own rules: which room may include which, what has one home, what may stand nowhere. The first
// fence is the build (each room links only what it may see); this is the second, and it names file and line.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace {

using Names = std::set<std::string>;

// Room -> what its files may include: a room, or one header of a room. docs/architecture.md draws the same table, and a test compares.
// The doors reach the engine through the interfaces of domain, so jobs stands in no row. Every room may also include the ground
// rooms (kGround), which include each other only as listed.
const Names kGround{"base", "metrics", "crypto", "schema"};
const std::map<std::string, Names> kMayInclude{
    {"base", {}},
    {"metrics", {"base"}},
    {"crypto", {"base"}},
    {"schema", {"base"}},
    {"domain", {}},
    {"store", {"domain"}},
    {"git", {"domain"}},
    {"net", {}},
    {"models", {"net", "domain"}},
    {"sandbox", {"net", "domain"}},
    {"httpd", {"domain"}},
    {"egress", {"httpd", "models", "net", "store", "sandbox/driver.h", "domain"}},
    {"tools", {"sandbox/driver.h", "domain"}},
    {"adapters", {"tools", "models", "egress", "sandbox/driver.h", "domain"}},
    {"jobs", {"adapters/adapter.h", "git", "sandbox/driver.h", "store", "domain"}},
    {"http", {"httpd", "tools", "egress", "domain"}},
    {"cli", {"sandbox/driver.h", "net", "domain"}},
    {"config", {"domain"}},
    // The wiring; only main.cpp may include it.
    {"assembly",
     {"config", "cli", "http", "jobs", "adapters", "sandbox", "egress", "httpd", "models", "git", "store", "net", "tools", "domain"}},
};

// Libraries of CMake that stand for one header of a room, and what they bring along.
const std::map<std::string, Names> kContracts{
    {"sandbox_driver", {"sandbox/driver.h", "domain"}},
    {"adapter_contract", {"adapters/adapter.h", "sandbox/driver.h", "domain"}},
};

// Third-party prefix -> the one room that may use it.
const std::map<std::string, std::string> kHome{
    {"Poco/", "httpd"},
    {"SQLiteCpp/", "store"},
    {"sqlite3.h", "store"},
    {"git2", "git"},
    {"curl/", "net"},
    {"spdlog/", "base"},
    {"sys/pidfd.h", "base"},
    {"sys/eventfd.h", "base"},
    {"linux/openat2.h", "base"},
    {"seccomp.h", "sandbox"},
    {"sys/capability.h", "sandbox"},
    {"prometheus/", "metrics"},
    {"CLI/", "cli"},
    {"toml++/", "config"},
    {"sodium", "crypto"},
    {"openssl/", "crypto"},
    {"valijson/", "schema"},
};

// Heavy or leaking: .cpp files only. The exception is a header private to its room.
const Names kSourceOnly{"nlohmann/json.hpp", "spdlog/", "SQLiteCpp/", "Poco/", "git2"};
const Names kPrivateHeaders{"orchestrator/git/handles.h"};

// What a static program cannot carry: base_posix and the launcher do without.
const Names kNotInStatic{"fmt/", "spdlog/"};
const std::string kLauncher = "orchestrator/sandbox/local/launcher/";

struct Word {
  std::string text;
  std::string instead;
  std::string allowed_in;  // the one file that may hold it
};
const std::vector<Word> kForbidden{
    {"std::mutex", "use Guarded", "orchestrator/base/guarded.h"},
    {"std::condition_variable", "use Guarded", "orchestrator/base/guarded.h"},
    {"sleep_for", "use pause()", ""},
    {"sleep_until", "use pause()", ""},
    {"usleep", "use pause()", ""},
    {"nanosleep", "use pause()", ""},
    {"detach", "own the thread and join it", ""},
    {"popen", "use run_command()", ""},
    {"#include <regex>", "write a parser or use a library", ""},
    {"TODO", "open an issue", ""},
    {"FIXME", "open an issue", ""},
    {"XXX", "open an issue", ""},
};

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// First folder below the root, `orchestrator/` skipped; a file directly in `orchestrator/` is a room by its own stem.
std::string room_of(const fs::path& file) {
  auto part = file.begin();
  if (part != file.end() && *part == "orchestrator") ++part;
  return part == file.end() ? "" : part->stem().string();
}

struct Include {
  std::string target;   // "orchestrator/store/job_store.h", "git2.h"
  bool quoted = false;  // "" and not <>
};

std::optional<Include> parse_include(std::string_view line) {
  for (const std::string_view word : {"#", "include", ""}) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(word)) return {};
    line.remove_prefix(word.size());
  }
  if (line.empty()) return {};
  return Include{std::string(line.substr(1, line.find_first_of("\">", 1) - 1)), line.front() == '"'};
}

/// The words of every call of `command` in a CMake file that begins a line.
std::vector<std::vector<std::string>> cmake_calls(const std::string& text, const std::string& command) {
  std::vector<std::vector<std::string>> calls;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(command + "(")) continue;
    std::istringstream words(line.substr(command.size() + 1, line.find(')') - command.size() - 1));
    calls.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return calls;
}

/// The sources of base_posix without their ending: "base/fd".
Names posix_units(const fs::path& root) {
  Names units;
  for (const auto& call : cmake_calls(read(root / "orchestrator/CMakeLists.txt"), "set"))
    if (!call.empty() && call[0] == "posix_only")
      for (std::size_t i = 1; i < call.size(); ++i) units.insert(fs::path(call[i]).replace_extension().string());
  return units;
}

struct Scan {
  int files = 0;
  std::vector<std::string> faults;  // "file:line includes target: reason"
};

class Scanner {
 public:
  explicit Scanner(fs::path root) : root_(std::move(root)), posix_(posix_units(root_)) {}

  Scan tree() {
    for (const char* top : {"orchestrator", "adapters", "tools"}) {
      if (!fs::exists(root_ / top)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(root_ / top)) {
        const fs::path path = entry.path().lexically_relative(root_);
        if (path.extension() == ".h" || path.extension() == ".cpp") file(path);
      }
    }
    return std::move(scan_);
  }

 private:
  void file(const fs::path& path) {
    const bool wiring = path == "orchestrator/main.cpp";  // sees everything
    if (!wiring) ++scan_.files;
    if (!wiring && !kMayInclude.contains(room_of(path))) {
      scan_.faults.push_back(path.string() + ": a room without a row in the table");
      return;
    }
    std::istringstream lines(read(root_ / path));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      const std::string place = path.string() + ":" + std::to_string(number);
      words(path, line, place);
      const auto include = parse_include(line);
      if (!include || wiring) continue;
      for (const auto& reason : reasons(path, *include)) scan_.faults.push_back(place + " includes " + include->target + ": " + reason);
    }
  }

  void words(const fs::path& path, std::string_view line, const std::string& place) {
    const auto part_of_word = [&](std::size_t at) {
      return at < line.size() && (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_');
    };
    const auto loop = line.find("for (");
    const auto over = line.find(" : ", std::min(loop, line.size()));
    if (over != std::string_view::npos && line.find(".lock()", over) != std::string_view::npos)
      scan_.faults.push_back(place + " loops over a temporary lock: name the lock before the loop");
    for (const Word& word : kForbidden) {
      if (path == word.allowed_in) continue;
      for (auto at = line.find(word.text); at != std::string_view::npos; at = line.find(word.text, at + 1)) {
        if (part_of_word(at + word.text.size()) || (at > 0 && part_of_word(at - 1))) continue;
        scan_.faults.push_back(place + " holds " + word.text + ": " + word.instead);
        break;
      }
    }
  }

  /// What is wrong with `include` in `path`; empty when nothing is.
  std::vector<std::string> reasons(const fs::path& path, const Include& include) const {
    std::vector<std::string> found;
    const std::string from = room_of(path);
    const std::string_view target = include.target;
    if (include.quoted) {
      const Names& allowed = kMayInclude.at(from);
      const std::string to = room_of(include.target);
      const std::string header(target.starts_with("orchestrator/") ? target.substr(13) : target);
      const bool ground = kGround.contains(to) && !kGround.contains(from);
      if (to != from && !ground && !allowed.contains(to) && !allowed.contains(header)) found.emplace_back("forbidden edge");
    }
    for (const auto& [prefix, home] : kHome)
      if (target.starts_with(prefix) && from != home) found.push_back("its only home is " + home);
    const bool public_header = path.extension() == ".h" && !kPrivateHeaders.contains(path.string());
    for (const auto& prefix : kSourceOnly)
      if (target.starts_with(prefix) && public_header) found.emplace_back("stands in .cpp files only");
    if (!fits_static_program(path, include)) found.emplace_back("the static launcher cannot link it");
    return found;
  }

  bool fits_static_program(const fs::path& path, const Include& include) const {
    const bool launcher = path.string().starts_with(kLauncher);
    const bool posix = posix_.contains(path.lexically_relative("orchestrator").replace_extension().string());
    if (!launcher && !posix) return true;
    for (const auto& prefix : kNotInStatic)
      if (include.target.starts_with(prefix)) return false;
    if (posix && include.target.starts_with("nlohmann/")) return false;
    if (!include.quoted || !include.target.starts_with("orchestrator/")) return true;
    const std::string unit = fs::path(include.target.substr(13)).replace_extension().string();
    return posix_.contains(unit) || unit == "base/guarded" || (launcher && unit.starts_with("sandbox/local/"));
  }

  fs::path root_;
  Names posix_;
  Scan scan_;
};

TEST(Structure, HoldsInEveryFile) {
  const Scan scan = Scanner(".").tree();
  for (const auto& fault : scan.faults) ADD_FAILURE() << fault;
  EXPECT_GT(scan.files, 0);  // a wrong working directory must not pass
}

/// The rooms, and headers of rooms, that a call of forge_room links.
Names linked_by(const std::vector<std::string>& call) {
  Names linked;
  bool links = false;
  for (const std::string& word : call) {
    if (word == "PUBLIC" || word == "PRIVATE") {
      links = true;
    } else if (word == "EXCLUDE" || word == "DIRECTORY") {
      links = false;
    } else if (links && kContracts.contains(word)) {
      linked.insert(kContracts.at(word).begin(), kContracts.at(word).end());
    } else if (links && kMayInclude.contains(word)) {
      linked.insert(word);
    }
  }
  std::erase_if(linked, [&](const std::string& header) { return header.starts_with(call.at(0) + "/"); });  // its own contract
  return linked;
}

TEST(Structure, IsLinkedAsTheTableSays) {
  std::size_t rooms = 1;  // base is not made by forge_room
  std::map<std::string, Names> reached{{"base", {}}};
  for (const auto& call : cmake_calls(read("orchestrator/CMakeLists.txt"), "forge_room")) {
    const std::string& room = call.at(0);
    ASSERT_TRUE(kMayInclude.contains(room)) << room;
    ++rooms;
    const Names linked = linked_by(call);
    for (const auto& other : linked)
      EXPECT_TRUE(kMayInclude.at(room).contains(other) || kGround.contains(other))
          << room << " links " << other << " and may not include it";
    reached[room] = linked;
    for (const auto& other : linked)
      if (reached.contains(other)) reached[room].insert(reached[other].begin(), reached[other].end());
    for (const auto& other : kMayInclude.at(room))
      EXPECT_TRUE(reached[room].contains(other)) << room << " may include " << other << " and does not link it";
  }
  EXPECT_EQ(rooms, kMayInclude.size());
}

/// The rooms' table of docs/architecture.md: its second column.
std::map<std::string, Names> documented_rooms() {
  std::map<std::string, Names> rooms;
  std::ifstream page("docs/architecture.md");
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| room |")) inside = true;
    if (!line.starts_with('|')) inside = false;
    if (!inside || !line.starts_with("| `")) continue;
    std::erase_if(line, [](char c) { return c == '`' || c == ' '; });
    std::istringstream cells(line.substr(1));
    std::string room;
    std::string names;
    std::getline(std::getline(cells, room, '|'), names, '|');
    Names& listed = rooms[room];
    std::istringstream parts(names);
    for (std::string name; std::getline(parts, name, ',');) listed.insert(name);
  }
  return rooms;
}

TEST(Structure, IsDocumentedAsItIs) {
  const auto documented = documented_rooms();
  for (const auto& [room, allowed] : kMayInclude) {
    ASSERT_TRUE(documented.contains(room)) << room << " has no row in docs/architecture.md";
    Names expected = allowed;
    for (const auto& ground : kGround) expected.erase(ground);  // the page says once that ground is free for all
    EXPECT_EQ(documented.at(room), expected) << room;
  }
  EXPECT_EQ(documented.size(), kMayInclude.size());
}

TEST(Structure, FindsEveryPlantedFault) {
  const fs::path root = fs::path(testing::TempDir()) / ("forge_structure_test_" + std::to_string(::getpid()));
  const auto plant = [&](const fs::path& file, std::string_view text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  };
  plant("orchestrator/CMakeLists.txt", "set(posix_only base/fd.cpp base/stop.cpp)\n");
  plant("orchestrator/jobs/runner.cpp", "#include \"adapters/adapter.h\"\n#include \"adapters/pi.h\"\n");            // line 2
  plant("tools/registry.cpp", "#include \"orchestrator/sandbox/driver.h\"\n#  include \"orchestrator/git/a.h\"\n");  // line 2
  plant("orchestrator/httpd/server.h", "#include <Poco/Net/HTTPServer.h>\n");                                        // a header
  plant("orchestrator/net/sse.cpp", "#include <git2.h>\n");                                                          // not its home
  plant("orchestrator/util/text.h", "");                                                                             // no row
  plant("orchestrator/git/handles.h", "#include <git2.h>\n");                                                        // allowed
  plant("orchestrator/main.cpp", "#include \"orchestrator/util/text.h\"\n");                                         // exempt
  plant("orchestrator/base/fd.h", "#include \"orchestrator/base/stop.h\"\n#include <fmt/format.h>\n");               // line 2
  plant(kLauncher + "main.cpp",
        "#include \"orchestrator/base/fd.h\"\n#include \"orchestrator/base/log.h\"\n#include <seccomp.h>\n");                // line 2
  plant("orchestrator/base/guarded.h", "std::mutex m;\n");                                                                   // allowed
  plant("orchestrator/git/mirror.cpp", "std::mutex m;\nchar name[] = \"XXXXXX\"; // XXX\nthread.detach();\n");               // three
  plant("orchestrator/store/a.cpp", "for (int i = 0; i < 3; ++i) ++*n.lock();\nfor (auto& x : all_.lock()->list) f(x);\n");  // line 2
  const Scan scan = Scanner(root).tree();
  fs::remove_all(root);
  EXPECT_EQ(scan.files, 11);
  EXPECT_EQ(scan.faults.size(), 11u);
  for (const char* place : {"jobs/runner.cpp:2", "tools/registry.cpp:2", "httpd/server.h:1", "net/sse.cpp:1", "util/text.h", "base/fd.h:2",
                            "launcher/main.cpp:2", "mirror.cpp:1", "mirror.cpp:2", "mirror.cpp:3", "store/a.cpp:2"})
    EXPECT_EQ(
        1, std::count_if(scan.faults.begin(), scan.faults.end(), [&](const auto& fault) { return fault.find(place) != std::string::npos; }))
        << place;
}

}  // namespace
