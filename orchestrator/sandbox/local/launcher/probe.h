#pragma once

namespace forge::sandbox::local::launcher {

/// Tries every kernel facility in a child of its own and prints one line each: name, tab, errno (0 = works), tab, detail.
/// `directory` is where the service keeps its data: there idmapped mounts are tried. Returns the exit code.
int probe(const char* directory);

}  // namespace forge::sandbox::local::launcher
