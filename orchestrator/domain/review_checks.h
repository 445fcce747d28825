#pragma once

#include "orchestrator/domain/review_control.h"

/// The rules of what people write in reviews: the same at the doors, which name the field early, and in the engine, which others may call.
namespace forge {

/// Body, quote and suggestion of a comment: their caps, that something is said, and that the base is not to be changed. Throws bad_input.
void check_comment(const NewComment& comment);
/// True when others see what the edit changes: it needs the revision that its author saw.
bool is_shared(const ReviewEdit& edit);

}  // namespace forge
