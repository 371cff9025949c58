// Results that are computed once, whoever asks first.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace gradweave {

/// Values by key. Any number of threads may ask; those that ask for different keys do not wait for each other.
template <typename Value> class Memo {
public:
  using Pointer = std::shared_ptr<const Value>;

  /// The value of the key, made if nobody has asked for it. Who asks for one that is being made waits. What `make`
  /// throws reaches all who wait; the next to ask makes it again.
  Pointer get(const std::string &key, const std::function<Value()> &make) {
    std::promise<Pointer> promise;
    std::shared_future<Pointer> known;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto [at, is_new] = values_.try_emplace(key);
      if (is_new)
        at->second = promise.get_future().share();
      else
        known = at->second;
    }
    if (known.valid()) return known.get();
    try {
      auto value = std::make_shared<const Value>(make());
      promise.set_value(value);
      return value;
    } catch (...) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        values_.erase(key);
      }
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  /// The value of the key, if it is there or being made; else null.
  Pointer find(const std::string &key) const {
    std::shared_future<Pointer> known;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (const auto at = values_.find(key); at != values_.end()) known = at->second;
    }
    return known.valid() ? known.get() : nullptr;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_future<Pointer>> values_;
};

} // namespace gradweave
