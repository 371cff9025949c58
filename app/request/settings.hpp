// --set: fields of the machine and the network that have other values than their files say.
#pragma once

#include "graph/frontend/network_settings.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::cli {

struct Settings {
  Overrides machine;
  compiler::NetworkSettings network;
};

/// Of "npu.KEY=VALUE", the same of memory, energy and net, with --batch, which is net.batch (0: not given), and
/// --until. Throws std::invalid_argument if one is not of this form, or a field is set twice.
Settings parse_settings(const std::vector<std::string> &set, std::uint32_t batch = 0, const std::string &until = {});

/// Of commands whose networks are named by --job: throws std::invalid_argument if one is of a network's fields, or as
/// parse_settings() does.
void refuse_network_settings(const std::vector<std::string> &set);

} // namespace gradweave::cli
