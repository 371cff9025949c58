// Where tensors come from: a file, or the memory of whoever calls.
#pragma once

#include "graph/tensor_file/tensor_file.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::runtime::train {

class TensorSource {
public:
  using Read = std::function<std::vector<graph::FileTensor>(const graph::AcceptTensor &)>;

  TensorSource() = default;
  /// A file, none if the path is empty; read as graph::read_tensors() does.
  explicit TensorSource(const std::filesystem::path &file) : name_(file.string()) {
    if (!file.empty()) read_ = [file](const graph::AcceptTensor &accept) { return graph::read_tensors(file, accept); };
  }
  /// What messages call it, and a function that shows each entry to its argument before it makes the bytes.
  TensorSource(std::string name, Read read) : name_(std::move(name)), read_(std::move(read)) {}

  bool there() const { return read_ != nullptr; }
  const std::string &name() const { return name_; }
  std::vector<graph::FileTensor> read(const graph::AcceptTensor &accept) const { return read_(accept); }

private:
  std::string name_;
  Read read_;
};

} // namespace gradweave::runtime::train
