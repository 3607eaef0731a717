// SPDX-License-Identifier: MIT
/// \file
/// What a call that ends the program does, seen from outside: it runs in a forked child. POSIX only.
#pragma once

#if __has_include(<sys/wait.h>) && __has_include(<unistd.h>)
#define TEST_HAS_DEATH 1

#include <csignal>
#include <cstdlib>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <scratchpad/error.hpp>

namespace test {

/// How a child ended, and what it said before.
struct Death {
  int signal = 0;       ///< that ended it; 0 if it exited
  int exit_code = 0;    ///< where it exited; `survived` if the call returned
  std::string message;  ///< what the failure handler was told; "" if it was not called
  std::string kind;     ///< likewise: "overflow", "misuse", "divergence", "shape"
  static constexpr int survived = 77;
};

namespace detail {

inline int death_pipe = -1;

inline void say(const std::string& text) {
  if (::write(death_pipe, text.data(), text.size()) < 0) ::_exit(78);
}

inline void tell_parent(const scratchpad::Failure& failure) {
  const char* const kinds[] = {"overflow", "misuse", "divergence", "shape"};
  say(std::string(kinds[static_cast<int>(failure.kind)]) + "\n" + failure.message);
}

}  // namespace detail

/// Runs `call` in a child, in which a failure handler reports to the parent; `handler` replaces that one.
template <class Call>
Death death_of(Call call, scratchpad::FailureHandler handler = detail::tell_parent) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    detail::death_pipe = ends[1];
    // The test framework catches signals to report them, and nobody wants the core of an intended death.
    for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP}) std::signal(signal, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    scratchpad::set_failure_handler(handler);
    call();
    ::_exit(Death::survived);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[256];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  Death death;
  if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
  if (WIFEXITED(status)) death.exit_code = WEXITSTATUS(status);
  const std::size_t line = said.find('\n');
  death.kind = said.substr(0, line);
  if (line != std::string::npos) death.message = said.substr(line + 1);
  return death;
}

}  // namespace test

#else
#define TEST_HAS_DEATH 0
#endif
