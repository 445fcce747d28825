#include "orchestrator/httpd/bell.h"

#include <unistd.h>

#include <array>

namespace forge::httpd {

Bell::Bell() : pipe_(make_pipe()) {
  set_nonblocking(pipe_.read.get(), true);
  set_nonblocking(pipe_.write.get(), true);
}

void Bell::ring() const {
  const char byte = 1;
  // A full pipe has rung already: that the byte does not fit is no failure.
  [[maybe_unused]] const ssize_t written = ::write(pipe_.write.get(), &byte, 1);
}

void Bell::quiet() const {
  std::array<char, 256> bytes{};
  while (::read(pipe_.read.get(), bytes.data(), bytes.size()) > 0) continue;
}

}  // namespace forge::httpd
