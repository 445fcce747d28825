#pragma once

#include <string>

#include "orchestrator/base/stop.h"
#include "orchestrator/cli/console.h"
#include "orchestrator/cli/interrupts.h"
#include "orchestrator/cli/services.h"

namespace forge::cli {

/// What a verb works with. The services are configured already.
class Context {
 public:
  Context(Services& services_in, const Console& console_in, Interrupts& interrupts_in)
      : services(services_in), console(console_in), interrupts(interrupts_in), stop(interrupts_in.stop()) {}

  Services& services;
  const Console& console;
  Interrupts& interrupts;
  const Stop stop;  ///< ends when the person does not want to wait any longer
};

}  // namespace forge::cli
