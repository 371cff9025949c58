// Plans of earlier processes in a directory.
#pragma once

#include "compiler/ir/scheduler.hpp"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace gradweave::runtime {

/// A file for each plan, named by what it depends on and by the version of the tool. A file appears whole or not at
/// all; any number of processes and threads may share a directory. What is damaged, or says that it is of something
/// else, is told on standard error and as good as not there. A plan says nothing about bits: whoever compiles it
/// verifies what comes of it.
class PlanCache final : public compiler::PlanStore {
public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20U;

  /// The directory is made when the first plan is kept. Beyond `most_bytes` of plans, the oldest are removed.
  PlanCache(std::filesystem::path directory, std::string version, std::uint64_t most_bytes = kMostBytes);

  std::optional<compiler::FoundPlans> find(const std::string &key) override;
  void reject(const std::string &key) override;
  void keep(const std::string &key, const compiler::FoundPlans &found) override;

  /// The file of a key, whether or not it is there.
  std::filesystem::path file_of(const std::string &key) const;

private:
  std::string full_key(const std::string &key) const;
  void remove_oldest() const;

  std::filesystem::path directory_;
  std::string version_;
  std::uint64_t most_bytes_;
  std::mutex mutex_; ///< of what follows, and of writing
  bool writable_ = true;
  std::uint64_t kept_ = 0;
};

/// Where plans are kept: what an option says, else $GRADWEAVE_PLAN_CACHE, else gradweave in $XDG_CACHE_HOME or
/// ~/.cache. Empty if that is "off", or there is none of them.
std::string plan_cache_directory(const std::string &option);

} // namespace gradweave::runtime
