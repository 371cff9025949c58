// Point-wise layers computed where they are read.
#pragma once

#include "memory_model/iteration/iteration.hpp"

namespace gradweave::memory_model {

/// The iteration without steps of activations, normalisations and dropout, forwards and back: who reads their result
/// reads what it is made of, at most two large tensors, and computes it again, row by row. A batch's statistics, and
/// gradients of scales and shifts, are summed up by the step that writes the last of what they are made of, which reads
/// the other one for it if it does not do so anyway. A step stays where its result has to last, or what it is made of
/// is overwritten before it is read for the last time.
Iteration fuse_point_wise(const Iteration &iteration);

} // namespace gradweave::memory_model
