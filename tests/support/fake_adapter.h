#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "adapters/adapter.h"
#include "orchestrator/base/error.h"

namespace forge::test {

/// An agent that does what a test says: one function plays every prompt of every session.
class FakeAdapter final : public adapters::AgentAdapter {
 public:
  using Play = std::function<adapters::AgentResult(const adapters::RunContext& context, const std::string& prompt, const Stop& stop)>;

  explicit FakeAdapter(Play play) : play_(std::move(play)) {}
  /// What every session keeps for a later run; nothing unless set.
  std::optional<adapters::SavedSession> saved;
  /// Why no session begins; nothing unless set.
  std::optional<Error> refusal;
  std::string_view name() const override { return "fake"; }
  void check(const JobSpec&) const override {}
  std::unique_ptr<adapters::AgentSession> start(const adapters::RunContext& context) override {
    if (refusal) throw *refusal;
    return std::make_unique<Session>(context, play_, saved);
  }

 private:
  class Session final : public adapters::AgentSession {
   public:
    Session(const adapters::RunContext& context, const Play& play, const std::optional<adapters::SavedSession>& saved)
        : context_(context), play_(play), saved_(saved) {}
    std::optional<adapters::SavedSession> save(const Stop&) override { return saved_; }
    adapters::AgentResult prompt(const std::string& text, const Stop& stop) override { return play_(context_, text, stop); }

   private:
    const adapters::RunContext& context_;
    const Play& play_;
    const std::optional<adapters::SavedSession>& saved_;
  };
  const Play play_;
};

}  // namespace forge::test
