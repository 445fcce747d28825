#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace forge::sandbox::local {

/// One message between Forge and the processes of a sandbox: a type and byte strings. No text encoding, so that names and arguments
/// with any bytes pass. What comes from inside is hostile: unpack() believes nothing.
struct Packet {
  char type = 0;
  std::vector<std::string> fields;
};

namespace message {
// Forge > launcher > Forge
inline constexpr char kFailed = 'E';  ///< {where, errno or 0, text}: the sandbox could not be set up
inline constexpr char kInit = 'P';    ///< {} + descriptor: pid 1 of the sandbox
inline constexpr char kReady = 'R';   ///< {} + descriptors: the upper layer, then one listener per port
// Forge > supervisor
inline constexpr char kRun = 'C';      ///< {flags, cwd, argument count, arguments..., environment...} + status, out, reader of out,
                                       ///< with flag i: in; with flag e: err, reader of err
inline constexpr char kRead = 'r';     ///< {path, most bytes} + status, out
inline constexpr char kWrite = 'w';    ///< {path, bytes, "new" or ""} + status, in
inline constexpr char kLarge = 'L';    ///< {} + a memory file that holds the packet, then its descriptors
inline constexpr char kKillAll = 'K';  ///< {}: ends every process but pid 1; answered with the same type when they are gone
// keeper of a command > Forge
inline constexpr char kNotStarted = 'F';  ///< {step, errno}
inline constexpr char kEnded = 'X';       ///< {wait status, user us, system us, largest resident KiB}
inline constexpr char kGone = 'G';        ///< {}: no process of the command is left
// Forge > keeper
inline constexpr char kTerminate = 'T';  ///< SIGTERM to the process group
inline constexpr char kKill = 'Q';       ///< kill whatever descends from the command
}  // namespace message

/// The step that fails where a file system shows no mapped owners: the driver then copies the tree.
inline constexpr std::string_view kMappingTree = "mapping the owner of the work tree";

/// Exit codes of the launcher after the sandbox was ready.
inline constexpr int kExitClosed = 0;  ///< Forge closed its end or died, or asked for the end
inline constexpr int kExitLifetime = 76;
inline constexpr int kExitInitEnded = 77;  ///< pid 1 ended by itself or was killed

inline constexpr std::size_t kMaxPacketBytes = 64 << 10;  ///< larger ones travel in a memory file
inline constexpr std::size_t kMaxLargePacketBytes = 8 << 20;
inline constexpr std::size_t kMaxSpecBytes = 160 << 10;

inline std::string pack(char type, const std::vector<std::string>& fields = {}) {
  std::string out(1, type);
  for (const std::string& field : fields) {
    const auto length = static_cast<std::uint32_t>(field.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out.append(field);
  }
  return out;
}

/// Nothing when `data` is not exactly one packet.
inline std::optional<Packet> unpack(std::string_view data) {
  if (data.empty()) return {};
  Packet packet{data.front(), {}};
  data.remove_prefix(1);
  while (!data.empty()) {
    std::uint32_t length = 0;
    if (data.size() < sizeof length) return {};
    std::memcpy(&length, data.data(), sizeof length);
    data.remove_prefix(sizeof length);
    if (length > data.size()) return {};
    packet.fields.emplace_back(data.substr(0, length));
    data.remove_prefix(length);
  }
  return packet;
}

/// A whole decimal number, or nothing.
inline std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

}  // namespace forge::sandbox::local
