#include "compiler/paper/loops.hpp"

namespace gradweave::compiler::paper {

LoopOrder loops_of(PhaseKind kind, const Policy &policy) {
  const bool by_tile = policy.major == MajorOrder::kTile;
  switch (kind) {
  case PhaseKind::kForward:
    return {Dim::kM, Dim::kN, Dim::kK};
  case PhaseKind::kDx:
    return {Dim::kM, Dim::kK, Dim::kN};
  case PhaseKind::kDxMajor:
    return by_tile ? LoopOrder{Dim::kM, Dim::kN, Dim::kK} : LoopOrder{Dim::kM, Dim::kK, Dim::kN};
  case PhaseKind::kDwMajor:
    return by_tile ? LoopOrder{Dim::kN, Dim::kM, Dim::kK} : LoopOrder{Dim::kN, Dim::kK, Dim::kM};
  default: // dW alone, and dW in an interleaved phase
    return policy.dw_order == DwOrder::kRows ? LoopOrder{Dim::kK, Dim::kN, Dim::kM}
                                             : LoopOrder{Dim::kN, Dim::kK, Dim::kM};
  }
}

} // namespace gradweave::compiler::paper
