#include "adapters/pi/pi.h"

#include "adapters/pi/session.h"
#include "tools/registry.h"

namespace forge::adapters {
namespace {

class Pi final : public AgentAdapter {
 public:
  explicit Pi(const egress::Gateway& gateway) : gateway_(gateway), tools_(tools::workspace_tools({tools::Caller::agent})) {}

  std::string_view name() const override { return "pi"; }
  void check(const JobSpec& spec) const override { gateway_.check(spec); }
  std::unique_ptr<AgentSession> start(const RunContext& context) override {
    return std::make_unique<pi::Session>(context, tools_,
                                         [&](TraceSink& trace) { return gateway_.model_for(context.job, context.run, trace); });
  }

 private:
  const egress::Gateway& gateway_;
  const tools::Registry tools_;
};

}  // namespace

std::unique_ptr<AgentAdapter> make_pi(const egress::Gateway& gateway) { return std::make_unique<Pi>(gateway); }

}  // namespace forge::adapters
