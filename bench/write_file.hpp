/// The results of a benchmark as a file. A disk may be full: then the program ends, before more is measured that nobody will read.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace weft::bench {

inline void write_file(const std::string &path, const std::string &text)
{
  std::ofstream file(path);
  if (file << text << std::flush) return;
  std::fprintf(stderr, "%s could not be written to its end\n", path.c_str());
  std::exit(2);
}

} // namespace weft::bench
