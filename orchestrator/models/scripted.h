#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orchestrator/models/model.h"
#include "orchestrator/models/retry.h"
#include "orchestrator/models/script.h"

namespace forge::models {

/// A model that replays a script: the step is the number of assistant turns so far. Errors and cuts of the script pass the same retry
/// policy as those of a real one. Asking past the end throws invalid_argument. `name` is "scripted:FILE".
std::unique_ptr<Model> make_scripted_model(std::string name, std::vector<ScriptStep> steps, RetryPolicy retries);

/// Reads FILE of "scripted:FILE" and makes the model. Throws not_found and bad_input as load_script does.
std::unique_ptr<Model> make_scripted_model(const std::string& name, RetryPolicy retries);

}  // namespace forge::models
