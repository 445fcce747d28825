#pragma once

#include <string>
#include <vector>

#include "orchestrator/domain/review.h"

namespace forge::git {

/// One changed file and what of it is taken.
struct FileChoice {
  const FileDiff* file = nullptr;
  bool file_hunk = false;         ///< taken: the whole file, or of text its name and mode
  std::vector<const Hunk*> text;  ///< all text hunks of the file, by line
  std::vector<bool> taken;        ///< of `text`
  std::size_t taken_text = 0;

  bool nothing() const { return !file_hunk && taken_text == 0; }
  bool everything() const;
  bool all_text() const { return taken_text == text.size(); }
  /// Where the file is in the result; "" when it is not there.
  std::string path() const;
  std::string mode() const;
  /// The base's path that this file leaves; "" when it stays, or was not there.
  std::string vacated() const;
};

/// The files of `diff`, which must outlive the answer, in its order. Throws bad_input for an id that the diff does not have.
std::vector<FileChoice> choose_hunks(const CanonicalDiff& diff, const std::vector<std::string>& ids);

}  // namespace forge::git
