#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace forge {

/// Data behind a lock: the lock is the only way to the data. Never held over I/O, a sandbox call or a callback.
/// `value.lock()->push(x)` locks for one expression. A loop needs the lock by name first: a range-for over
/// `value.lock()->list` gives it back before the first round.
template <typename T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  class Locked {
   public:
    explicit Locked(Guarded& owner) : owner_(owner), lock_(owner.mutex_) {}
    T* operator->() { return &owner_.value_; }
    T& operator*() { return owner_.value_; }

    /// Waits until `ready(value)`. False when `token` was stopped first.
    template <typename Ready>
    bool wait(std::stop_token token, Ready ready) {
      return owner_.changed_.wait(lock_, std::move(token), [&] { return ready(owner_.value_); });
    }
    /// The same with a deadline; false also when that passed first.
    template <typename TimePoint, typename Ready>
    bool wait_until(std::stop_token token, TimePoint deadline, Ready ready) {
      return owner_.changed_.wait_until(lock_, std::move(token), deadline, [&] { return ready(owner_.value_); });
    }
    void notify_all() { owner_.changed_.notify_all(); }

   private:
    Guarded& owner_;
    std::unique_lock<std::mutex> lock_;
  };

  Locked lock() { return Locked(*this); }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  T value_{};
};

}  // namespace forge
