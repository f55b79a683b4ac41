/// A user's file as one string.
#pragma once
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace weft {

/// Nothing where the file cannot be read. Throws std::bad_alloc where it does not fit into memory.
inline std::optional<std::string> ReadFile(const char *name)
{
  std::error_code unknown;
  std::ifstream file(name, std::ios::binary);
  if (!file.is_open() || std::filesystem::is_directory(name, unknown)) return std::nullopt;
  std::ostringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

} // namespace weft
