#include "train/checkpoint/checkpoint.hpp"

#include "base/key/fingerprint.hpp"
#include "sw_models/config/config_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using graph::FileTensor;
using graph::FileType;
using graph::Tensor;

constexpr const char *kSteps = "steps_done", *kChecksum = "checksum";
constexpr const char *kLosses = "gradweave.losses";

bool is_kept(const Tensor &tensor) {
  return tensor.role == graph::Role::kParameter || tensor.role == graph::Role::kState;
}

template <typename T> FileTensor tensor_of(const std::string &name, FileType type, const std::vector<T> &values) {
  FileTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = {values.size()};
  tensor.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

template <typename T> std::vector<T> values_of(const FileTensor &tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

[[noreturn]] void refuse(const std::filesystem::path &file, const std::string &what) {
  throw ConfigError(fmt::format("{}: {}", file.string(), what));
}

const std::string &said(const std::filesystem::path &file, const RunIdentity &of_file, const std::string &name) {
  const auto found = of_file.find(name);
  if (found == of_file.end())
    refuse(file, fmt::format("no checkpoint of a training run: it does not say its {}", name));
  return found->second;
}

/// Names all that is different; the network's fingerprint, which follows from options too, only if nothing else is.
void check_identity(const std::filesystem::path &file, const RunIdentity &of_file, const RunIdentity &run) {
  std::string different, network;
  for (const auto &[name, wanted] : run) {
    const std::string &found = said(file, of_file, name);
    if (found == wanted) continue;
    std::string &text = name == kNetwork ? network : different;
    text += fmt::format("{}{} {}, and this one {}", text.empty() ? "" : "; ", name, found, wanted);
  }
  if (different.empty()) different = network;
  if (!different.empty())
    refuse(file, fmt::format("its run has {}; give the options of that run, or another file", different));
}

/// Of names and bytes.
std::string checksum_of(const std::map<std::string, const FileTensor *> &tensors) {
  Fingerprint all;
  for (const auto &[name, tensor] : tensors)
    all.add(name, Fingerprint().add(
                      std::string_view(reinterpret_cast<const char *>(tensor->bytes.data()), tensor->bytes.size())));
  return all.hex();
}

std::uint64_t steps_of(const std::filesystem::path &file, const RunIdentity &of_file) {
  const auto found = of_file.find(kSteps);
  const std::string &text = found == of_file.end() ? std::string() : found->second;
  if (text.empty() || text.size() > 15 ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    refuse(file, fmt::format("no checkpoint of a training run: {} is no number of steps", kSteps));
  return std::stoull(text);
}

} // namespace

void write_checkpoint(const std::filesystem::path &file, const graph::Graph &step, const RunIdentity &run,
                      const Checkpoint &checkpoint) {
  std::vector<FileTensor> tensors{tensor_of(kLosses, FileType::kFp64, checkpoint.losses)};
  for (graph::TensorId id = 0; id < step.tensors.size(); ++id) {
    const Tensor &tensor = step.tensors[id];
    if (!is_kept(tensor)) continue;
    tensors.push_back(tensor_of(tensor.name, FileType::kFp32, checkpoint.living[id]));
    tensors.back().shape.assign(tensor.shape.dims().begin(), tensor.shape.dims().end());
  }
  RunIdentity metadata = run;
  metadata[kSteps] = std::to_string(checkpoint.steps);
  std::map<std::string, const FileTensor *> by_name;
  for (const FileTensor &tensor : tensors)
    by_name[tensor.name] = &tensor;
  metadata[kChecksum] = checksum_of(by_name);
  graph::write_safetensors(file, tensors, metadata);
}

Checkpoint read_checkpoint(const std::filesystem::path &file, const graph::Graph &step, const RunIdentity &run) {
  const RunIdentity of_file = graph::read_safetensors_metadata(file);
  check_identity(file, of_file, run);
  Checkpoint checkpoint;
  checkpoint.steps = steps_of(file, of_file);
  const auto accept = [&](const graph::TensorEntry &entry) {
    const graph::TensorId id = step.find(entry.name);
    const std::uint64_t most = entry.name == kLosses ? checkpoint.steps
                               : id == graph::kNone  ? 0
                                                     : step.tensors[id].shape.elements();
    if (entry.elements() != most) refuse(file, fmt::format("'{}' has another shape than in this run", entry.name));
  };
  std::map<std::string, FileTensor> by_name;
  for (FileTensor &tensor : graph::read_safetensors(file, accept))
    by_name[tensor.name] = std::move(tensor);
  std::map<std::string, const FileTensor *> bytes;
  for (const auto &[name, tensor] : by_name)
    bytes[name] = &tensor;
  if (checksum_of(bytes) != said(file, of_file, kChecksum))
    refuse(file, "damaged: its tensors are not those that were written; begin anew, or take a copy of it");
  const auto take = [&](const std::string &name, FileType type) -> const FileTensor & {
    const auto found = by_name.find(name);
    if (found == by_name.end()) refuse(file, fmt::format("'{}' is missing", name));
    if (found->second.type != type) refuse(file, fmt::format("'{}' is not of {}", name, graph::to_string(type)));
    return found->second;
  };
  checkpoint.losses = values_of<double>(take(kLosses, FileType::kFp64));
  checkpoint.living.resize(step.tensors.size());
  for (graph::TensorId id = 0; id < step.tensors.size(); ++id)
    if (is_kept(step.tensors[id]))
      checkpoint.living[id] = values_of<float>(take(step.tensors[id].name, FileType::kFp32));
  return checkpoint;
}

} // namespace gradweave::runtime::train
