#include "orchestrator/cli/live_line.h"

#include <array>
#include <ostream>

namespace forge::cli {
namespace {

// Fast enough to look alive, slow enough not to cost anything over a slow line.
constexpr auto kFrameTime = std::chrono::milliseconds(120);
constexpr std::array<char, 4> kFrames{'|', '/', '-', '\\'};
constexpr const char* kEraseLine = "\r\x1b[K";

/// "42 s", "3 min 5 s": whole seconds, so that the text does not jitter.
std::string elapsed(SteadyClock::duration time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  const std::string rest = std::to_string(seconds % 60) + " s";
  return seconds < 60 ? rest : std::to_string(seconds / 60) + " min " + rest;
}

}  // namespace

LiveLine::LiveLine(const Console& console)
    : console_(console), began_(SteadyClock::now()), thread_([this](const std::stop_token& token) { draw(token); }) {}

LiveLine::~LiveLine() {
  thread_.request_stop();
  thread_.join();
  auto waiting = waiting_.lock();
  waiting->status.clear();
  write(*waiting, 0);
}

void LiveLine::note(std::string line) {
  auto waiting = waiting_.lock();
  waiting->lines.push_back(std::move(line));
  waiting.notify_all();
}

void LiveLine::status(std::string text) { waiting_.lock()->status = std::move(text); }

void LiveLine::draw(const std::stop_token& token) {
  const auto some = [](const Waiting& waiting) { return !waiting.lines.empty(); };
  for (std::size_t frame = 0; !token.stop_requested(); ++frame) {
    Waiting now;
    {
      auto waiting = waiting_.lock();
      if (console_.err_is_terminal)
        waiting.wait_until(token, SteadyClock::now() + kFrameTime, some);
      else
        waiting.wait(token, some);
      now.lines.swap(waiting->lines);
      now.status = waiting->status;
    }
    write(now, frame);
  }
}

// One write per frame: a terminal that shows half of it would flicker.
void LiveLine::write(const Waiting& waiting, std::size_t frame) const {
  std::string text = console_.err_is_terminal ? kEraseLine : "";
  for (const auto& line : waiting.lines) text += line + "\n";
  if (console_.err_is_terminal && !waiting.status.empty()) {
    const std::string status = waiting.status + ", " + elapsed(SteadyClock::now() - began_);
    text += console_.err_paint.cyan(std::string(1, kFrames.at(frame % kFrames.size()))) + " " +
            console_.err_paint.dim(one_line(status, console_.width - 3));
  }
  console_.err << text << std::flush;
}

}  // namespace forge::cli
