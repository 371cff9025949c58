// Networks of a study in a setting, and the time that they take under the techniques of the paper.
#pragma once

#include "app/evaluation/study/layer_study.hpp"
#include "app/evaluation/unit/evaluations.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gradweave::evaluation {

/// An NPU and the batch that runs on it.
struct Setting {
  Machine npu;
  bool large = false; ///< which of a network's two models
  std::uint32_t batch = 1;
};

struct Workload {
  std::string name; ///< as in the paper's figures
  compiler::Network network;
};

/// NPUs and networks of a study; each file is read once.
class Workloads {
public:
  /// `wanted`: names of networks; empty: all. Throws std::invalid_argument that lists the names if one is unknown.
  Workloads(const LayerStudy &study, const std::vector<std::string> &wanted);

  Setting small() const;
  /// The large NPU with `index` in Study::large_npus; DRAM bandwidth times `bandwidth`, batch as the study says for so
  /// many cores, or `batch` if that is not 0.
  Setting large(std::size_t index = 0, double bandwidth = 1, std::uint32_t batch = 0) const;
  /// The networks with the setting's batch.
  const std::vector<Workload> &at(const Setting &setting) const;
  /// The first layer of that shape in the networks of all settings so far, and its network; null if there is none.
  const Workload *owner(const compiler::Layer &shape, const compiler::Layer *&layer) const;
  std::vector<std::string> names() const;

private:
  const Machine &npu(const std::string &name) const;

  const LayerStudy &study_;
  std::vector<StudyNetwork> networks_;
  mutable std::map<std::string, Machine> npus_;
  mutable std::map<std::pair<bool, std::uint32_t>, std::vector<Workload>> workloads_;
};

/// How the backward pass is executed; each technique includes those before it (igo_micro23, figure 12).
enum class Technique {
  kBaseline,   ///< dX, then dW
  kDyOnce,     ///< the same without the second reads of dY (figure 6)
  kInterleave, ///< section 4.2
  kRearrange,  ///< section 4.3, Algorithm 1
  kIdeal,      ///< the fastest of the three orders instead of Algorithm 1's
  kPartition,  ///< Algorithm 1 and the fastest partitioning, section 5
};

/// Costs of layers on one NPU under one policy. Cycles are NaN if a unit has no result.
class Costs {
public:
  /// `parts`: that one core's layers are cut into. `plans`: effort of the search, if the policy is kSearched;
  /// layers of very many tiles, and several cores, get less.
  Costs(Evaluations &evaluations, const Machine &npu, std::string policy, std::vector<std::uint32_t> parts,
        std::uint64_t plans)
      : evaluations_(evaluations), npu_(npu), policy_(std::move(policy)), parts_(std::move(parts)), plans_(plans) {}

  /// With several cores, M is cut over them: conventional data parallelism.
  UnitResult forward(const compiler::Layer &layer) const;
  /// Layers without dX take part in no technique: they are as in the baseline.
  UnitResult backward(const compiler::Layer &layer, Technique technique) const;
  /// The backward pass under Algorithm 1 with the dimension cut over all cores (one core: `parts` after another).
  UnitResult partitioned(const compiler::Layer &layer, compiler::Partition partition, std::uint32_t parts) const;

  double cycles(const compiler::Layer &layer, Technique technique) const; ///< forward and backward
  double cycles(const Workload &workload, Technique technique) const;     ///< of all layers

private:
  UnitResult get(const compiler::Layer &layer, compiler::Pass pass, Variant variant) const;
  UnitResult fastest(const std::vector<UnitResult> &results) const;
  UnitResult best_partitioned(const compiler::Layer &layer) const;
  compiler::Partition usual_partition() const {
    return npu_.cores > 1 ? compiler::Partition::kWeightSharing : compiler::Partition::kNone;
  }

  Evaluations &evaluations_;
  Machine npu_;
  std::string policy_;
  std::vector<std::uint32_t> parts_;
  std::uint64_t plans_;
};

/// Cycles as a number for averages: NaN if the result is a problem.
double cycles_of(const UnitResult &result);

} // namespace gradweave::evaluation
