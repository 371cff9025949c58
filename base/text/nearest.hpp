// What somebody meant who misspelt a name.
#pragma once

#include <string>
#include <vector>

namespace gradweave {

/// Of the names, the one that the user probably meant by `word`; empty: none is near.
std::string nearest(const std::string &word, const std::vector<std::string> &names);

/// "; did you mean 'mlp'?", or nothing if no name is near.
std::string did_you_mean(const std::string &word, const std::vector<std::string> &names);

} // namespace gradweave
