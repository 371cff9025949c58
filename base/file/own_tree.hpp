// Where the running program lies, so that what belongs to it is found beside it wherever it is moved.
#pragma once

#include <filesystem>
#include <string>

namespace gradweave {

struct OwnTree {
  std::filesystem::path root;  ///< install prefix, else CMake's build directory, else the directory above the program's
  std::filesystem::path share; ///< that may hold models, configs and evaluation
  std::string problem;         ///< why `share` is empty, with the remedy
};

/// The tree of a program. A build directory's `share` is the source tree that it was configured for. Of a copied one
/// that is the tree it was copied with, if it lay inside: the tree it was copied from may say something else by now. An
/// installed library may lie deeper below the prefix than programs do, as modules of Python.
OwnTree tree_of(const std::filesystem::path &program);

/// That of the running program, or of the shared library if this code is in one.
const OwnTree &own_tree();

/// Whether it has models and configs.
bool has_models(const std::filesystem::path &directory);

} // namespace gradweave
