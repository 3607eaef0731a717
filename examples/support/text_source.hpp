// SPDX-License-Identifier: MIT
/// \file
/// Text for an example to work on: the files that were named, or this project's own headers and docs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "command_line.hpp"

namespace text_source {

/// The project's headers and pages, in a fixed order. Empty where the working directory is not the project's.
inline std::vector<std::string> own_files() {
  std::vector<std::string> files;
  const auto collect = [&](const char* folder, std::string_view extension) {
    std::error_code missing;
    for (auto entry = std::filesystem::recursive_directory_iterator(folder, missing);
         !missing && entry != std::filesystem::recursive_directory_iterator(); entry.increment(missing)) {
      if (entry->path().extension() == extension) files.push_back(entry->path().generic_string());
    }
  };
  collect("include/scratchpad", ".hpp");
  collect("docs", ".md");
  std::sort(files.begin(), files.end());
  return files;
}

/// The bytes of these files, one after another, up to `wanted` of them.
inline std::string read(const std::vector<std::string>& files, std::size_t wanted) {
  std::string text;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    std::error_code ignored;
    if (!stream || std::filesystem::is_directory(file, ignored)) {
      throw command_line::UsageError(fmt::format("cannot read {}", command_line::quoted(file)));
    }
    char block[1 << 16];
    while (text.size() < wanted && stream) {
      stream.read(block, static_cast<std::streamsize>(std::min(sizeof block, wanted - text.size())));
      text.append(block, static_cast<std::size_t>(stream.gcount()));
    }
    if (stream.bad()) throw command_line::UsageError(fmt::format("cannot read {}", command_line::quoted(file)));
  }
  return text;
}

/// Makes `text` exactly `wanted` bytes long by repeating it. \pre it is not empty
inline void repeat_to(std::string& text, std::size_t wanted) {
  const std::size_t once = text.size();
  text.reserve(wanted);
  while (text.size() < wanted) text += text[text.size() - once];
}

}  // namespace text_source
