#pragma once

#include <memory>
#include <string>

#include "orchestrator/base/fd.h"
#include "orchestrator/httpd/message.h"

namespace forge::httpd {

/// A listening socket and what its requests are told about it.
struct Listener {
  UniqueFd socket;
  std::shared_ptr<const ListenerInfo> info;
  std::string unlink_path;  ///< of a unix socket that we made: removed when the server stops listening
};

/// "127.0.0.1:8700", "[::1]:0", "localhost:8700"; port 0 takes a free one. Throws bad_input("server.listen") for an address that is none,
/// conflict when it is taken.
Listener listen_tcp(const std::string& address);
/// A unix socket of mode 0600. A socket file that nobody listens on is replaced; one in use throws conflict, another kind of file too.
/// Throws bad_input("server.socket") when the path is longer than the 107 bytes that the kernel takes.
Listener listen_unix(const std::string& path);
/// A socket that is bound and listening already. `name` is what its owner calls it; its requests count as local.
Listener adopt_listener(UniqueFd socket, std::string name);

/// "127.0.0.1:43123": where a TCP listener really is.
std::string bound_address(const Listener& listener);

}  // namespace forge::httpd
