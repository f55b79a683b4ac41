/// Options that all benchmark programs have, and how their values are read.
#pragma once
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/backend.hpp"
#include "base/native_forms.hpp"

namespace weft::bench {

/// The parts of a text, as of --sizes=A,B.
inline std::vector<std::string> words(const std::string &text, char between)
{
  std::vector<std::string> all;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, between);) all.push_back(word);
  return all;
}

/// Takes --portable, which leaves out all native forms of kernels, and --portable=NAME for a member of NativeForms. False if the word is
/// another.
inline bool takes_portable(const std::string &word)
{
  const std::pair<const char *, bool &> all[] = {
      {"lines", native_forms.lines},           {"relaxation", native_forms.relaxation}, {"sweeps", native_forms.sweeps},
      {"transforms", native_forms.transforms}, {"modes", native_forms.modes},           {"fractions", native_forms.fractions},
      {"short_rows", native_forms.short_rows}, {"levels", native_forms.levels},         {"products", native_forms.products}};
  bool found = false;
  for (const auto &[name, form] : all) {
    if (word != "--portable" && !(word.starts_with("--portable=") && word.substr(11) == name)) continue;
    form  = false;
    found = true;
  }
  return found;
}

/// Takes --backend=host|device, --quick and --portable. False if the word is another.
inline bool takes_common(const std::string &word, Memory &memory, bool &quick)
{
  if (takes_portable(word)) return true;
  if (word == "--backend=host")
    memory = Memory::host;
  else if (word == "--backend=device")
    memory = Memory::device;
  else if (word == "--quick")
    quick = true;
  else
    return false;
  return true;
}

} // namespace weft::bench
