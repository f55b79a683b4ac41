/// Options that all benchmark programs have.
#pragma once
#include <string>

#include "base/backend.hpp"

namespace weft::bench {

/// Takes --backend=host|device and --quick. False if the word is another.
inline bool takes_common(const std::string &word, Memory &memory, bool &quick)
{
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
