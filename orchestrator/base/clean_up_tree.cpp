#include <exception>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/log.h"

namespace forge {

void clean_up_tree(const std::string& path, Log& log) noexcept {
  try {
    remove_tree(path);
  } catch (const std::exception& error) {
    log.error("a directory cannot be removed", {{"directory", path}, {"error", error.what()}});
  }
}

}  // namespace forge
