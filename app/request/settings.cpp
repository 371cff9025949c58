#include "app/request/settings.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::cli {
namespace {

constexpr const char *kForm =
    "write, for example, --set npu.rows=64, --set memory.latency_cycles=50 or --set net.batch=8";

void add(Settings &settings, const std::string &text) {
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.substr(0, equals).find('.');
  if (equals == std::string::npos || dot == std::string::npos)
    throw std::invalid_argument(fmt::format("--set {}: no TABLE.FIELD=VALUE; {}", text, kForm));
  const std::string table = text.substr(0, dot), key = text.substr(dot + 1, equals - dot - 1);
  const std::string value = text.substr(equals + 1);
  const auto twice = [&] {
    throw std::invalid_argument(fmt::format("--set {}: {}.{} has a value already; set it once", text, table, key));
  };
  if (table == "net") {
    if (!settings.network.values.emplace(key, value).second) twice();
  } else if (table == "npu" || table == "memory" || table == "energy") {
    for (const Override &other : settings.machine)
      if (other.table == table && other.key == key) twice();
    settings.machine.push_back({table, key, value, "--set " + text});
  } else {
    throw std::invalid_argument(
        fmt::format("--set {}: there is no table '{}'; use npu, memory, energy or net; {}", text, table, kForm));
  }
}

} // namespace

Settings parse_settings(const std::vector<std::string> &set, std::uint32_t batch, const std::string &until) {
  Settings settings;
  if (batch != 0) settings.network = compiler::NetworkSettings(batch);
  settings.network.until = until;
  for (const std::string &text : set)
    add(settings, text);
  return settings;
}

void refuse_network_settings(const std::vector<std::string> &set) {
  if (!parse_settings(set).network.values.empty())
    throw std::invalid_argument(
        "--set net.*: networks have variables of their own here; write --job MODEL,NAME=VALUE:...");
}

} // namespace gradweave::cli
