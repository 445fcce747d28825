#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// Room -> what its files may include: a room, or one header of a room. docs/architecture.md draws the same table.
// The doors reach the engine through domain/{job,chat,exec}_control.h, so jobs, chat and exec stand in no row.
// Every room may also include the ground rooms (kGround), which include each other only as listed.
const Names kGround{"base", "metrics", "crypto", "archive", "schema"};
const std::map<std::string, Names> kMayInclude{
    {"base", {}},
    {"metrics", {"base"}},
    {"crypto", {"base"}},
    {"archive", {"base"}},
    {"schema", {"base"}},
    {"domain", {}},
    {"store", {"domain"}},
    {"git", {"domain"}},
    {"net", {}},
    {"hosts", {"net", "domain"}},
    {"models", {"net", "domain"}},
    {"sandbox", {"net", "domain"}},
    {"httpd", {"domain"}},
    {"egress", {"httpd", "models", "net", "store", "sandbox/driver.h", "domain"}},
    {"tools", {"sandbox/driver.h", "domain"}},
    {"adapters", {"tools", "models", "egress", "sandbox/driver.h", "domain"}},
    {"jobs", {"adapters/adapter.h", "git", "hosts", "sandbox/driver.h", "store", "domain"}},
    {"exec", {"sandbox/driver.h", "egress", "store", "domain"}},
    {"chat", {"tools", "models", "sandbox/driver.h", "store", "domain"}},
    {"http", {"httpd", "tools", "egress", "domain"}},
    {"mcp", {"httpd", "tools", "egress", "domain"}},
    {"cli", {"sandbox/driver.h", "net", "domain"}},
    {"config", {"domain"}},  // orchestrator/config.{h,cpp}; only main.cpp may include it
};

// Third-party prefix -> the one room that may use it.
const std::map<std::string, std::string> kHome{
    {"Poco/", "httpd"},
    {"SQLiteCpp/", "store"},
    {"sqlite3.h", "store"},
    {"libpq-fe.h", "store"},
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
    {"archive.h", "archive"},
    {"archive_entry.h", "archive"},
    {"valijson/", "schema"},
};

// Heavy or leaking: .cpp files only. The exception is a header private to its room.
const Names kSourceOnly{"nlohmann/json.hpp", "spdlog/", "SQLiteCpp/", "Poco/", "git2"};
const Names kPrivateHeaders{"orchestrator/git/handles.h"};

/// First folder below the root, `orchestrator/` skipped; a file directly in `orchestrator/` is a room by its own stem.
std::string room_of(const fs::path& file) {
  auto part = file.begin();
  if (*part == "orchestrator") ++part;
  return part == file.end() ? "" : part->stem().string();
}

struct Include {
  std::string target;   // "orchestrator/store/job_store.h", "git2.h"
  bool quoted = false;  // "" and not <>
};

std::optional<Include> parse_include(std::string_view line) {
  for (std::string_view word : {"#", "include", ""}) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(word)) return {};
    line.remove_prefix(word.size());
  }
  if (line.empty()) return {};
  return Include{std::string(line.substr(1, line.find_first_of("\">", 1) - 1)), line.front() == '"'};
}

/// What is wrong with `include` in `file`; empty when nothing is.
std::vector<std::string> reasons(const fs::path& file, const Include& include) {
  std::vector<std::string> found;
  const std::string from = room_of(file);
  const std::string_view target = include.target;
  if (include.quoted) {
    const Names& allowed = kMayInclude.at(from);
    const std::string to = room_of(target);
    const std::string header(target.starts_with("orchestrator/") ? target.substr(13) : target);
    const bool ground = kGround.contains(to) && !kGround.contains(from);
    if (to != from && !ground && !allowed.contains(to) && !allowed.contains(header)) found.push_back("forbidden edge");
  }
  for (const auto& [prefix, home] : kHome)
    if (target.starts_with(prefix) && from != home) found.push_back("its only home is " + home);
  const bool public_header = file.extension() == ".h" && !kPrivateHeaders.contains(file.string());
  for (const auto& prefix : kSourceOnly)
    if (target.starts_with(prefix) && public_header) found.push_back("stands in .cpp files only");
  return found;
}

struct Scan {
  int files = 0;
  std::vector<std::string> faults;  // "file:line includes target: reason"
};

void scan_file(const fs::path& root, const fs::path& file, Scan& scan) {
  ++scan.files;
  if (!kMayInclude.contains(room_of(file))) {
    scan.faults.push_back(file.string() + ": a room without a row in the table");
    return;
  }
  std::ifstream in(root / file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const auto include = parse_include(line);
    if (!include) continue;
    for (const auto& reason : reasons(file, *include))
      scan.faults.push_back(file.string() + ":" + std::to_string(number) + " includes " + include->target + ": " + reason);
  }
}

Scan scan_tree(const fs::path& root) {
  Scan scan;
  for (const char* top : {"orchestrator", "adapters", "tools"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path file = entry.path().lexically_relative(root);
      const bool code = file.extension() == ".h" || file.extension() == ".cpp";
      if (code && file != "orchestrator/main.cpp") scan_file(root, file, scan);
    }
  }
  return scan;
}

TEST(Structure, IncludesPointDown) {
  const Scan scan = scan_tree(".");
  for (const auto& fault : scan.faults) ADD_FAILURE() << fault;
  EXPECT_GT(scan.files, 0);  // a wrong working directory must not pass
}

TEST(Structure, FindsEveryPlantedFault) {
  const fs::path root = fs::path(testing::TempDir()) / "forge_structure_test";
  const auto plant = [&](const fs::path& file, std::string_view text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  };
  fs::remove_all(root);
  plant("orchestrator/jobs/runner.cpp", "#include \"adapters/adapter.h\"\n#include \"adapters/pi.h\"\n");            // line 2
  plant("tools/registry.cpp", "#include \"orchestrator/sandbox/driver.h\"\n#  include \"orchestrator/git/a.h\"\n");  // line 2
  plant("orchestrator/httpd/server.h", "#include <Poco/Net/HTTPServer.h>\n");                                        // a header
  plant("orchestrator/net/sse.cpp", "#include <git2.h>\n");                                                          // not its home
  plant("orchestrator/util/text.h", "");                                                                             // no row
  plant("orchestrator/git/handles.h", "#include <git2.h>\n");                                                        // allowed
  plant("orchestrator/main.cpp", "#include \"orchestrator/util/text.h\"\n");                                         // exempt
  const Scan scan = scan_tree(root);
  EXPECT_EQ(scan.files, 6);
  EXPECT_EQ(scan.faults.size(), 5u);
  fs::remove_all(root);
}
