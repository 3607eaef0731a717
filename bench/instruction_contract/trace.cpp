// SPDX-License-Identifier: MIT
// Runs every counted function twice and prints the addresses of the instructions that the second call executes (the first
// one may move a pool's peak): contract.py compares them with the path that it read from the machine code.
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "counted.hpp"

namespace counted {

void work(void*) {}

namespace {

struct Case {
  const char* name;
  std::uintptr_t entry;
  void (*run)();
};

alignas(64) std::byte memory[std::size_t{1} << 20];

// Fresh pools, made outside the counted functions. None is watched.
template <class Function, class... Arguments>
void on_pool(Function function, Arguments... arguments) {
  Pool pool(memory);
  for (int call = 0; call < 2; ++call) (void)function(pool, arguments...);
}
template <class Function, class... Arguments>
void on_unchecked(Function function, Arguments... arguments) {
  UncheckedPool pool(memory);
  for (int call = 0; call < 2; ++call) (void)function(pool, arguments...);
}
template <class Function, class... Arguments>
void on_dynamic(Function function, Arguments... arguments) {
  DynamicPool pool(memory, 16);
  for (int call = 0; call < 2; ++call) (void)function(pool, arguments...);
}
template <class Function, class... Arguments>
void on_carver(Function function, Arguments... arguments) {
  Carver carver{memory, 0, sizeof memory};
  for (int call = 0; call < 2; ++call) (void)function(carver, arguments...);
}

template <class Function>
std::uintptr_t address(Function* function) {
  return reinterpret_cast<std::uintptr_t>(function);
}

constexpr std::size_t n = 100;

const Case cases[] = {
    {"allocate_constant", address(allocate_constant), [] { on_pool(allocate_constant); }},
    {"allocate_constant_span", address(allocate_constant_span), [] { on_pool(allocate_constant_span); }},
    {"allocate_n", address(allocate_n), [] { on_pool(allocate_n, n); }},
    {"allocate_n_span", address(allocate_n_span), [] { on_pool(allocate_n_span, n); }},
    {"allocate_n_label", address(allocate_n_label), [] { on_pool(allocate_n_label, n); }},
    {"allocate_bytes", address(allocate_bytes), [] { on_pool(allocate_bytes, n); }},
    {"allocate_particles", address(allocate_particles), [] { on_pool(allocate_particles, n); }},
    {"allocate_constant_unchecked", address(allocate_constant_unchecked),
     [] { on_unchecked(allocate_constant_unchecked); }},
    {"allocate_n_unchecked", address(allocate_n_unchecked), [] { on_unchecked(allocate_n_unchecked, n); }},
    {"allocate_constant_dynamic", address(allocate_constant_dynamic), [] { on_dynamic(allocate_constant_dynamic); }},
    {"allocate_n_dynamic", address(allocate_n_dynamic), [] { on_dynamic(allocate_n_dynamic, n); }},
    {"try_allocate_constant", address(try_allocate_constant), [] { on_pool(try_allocate_constant); }},
    {"try_allocate_n", address(try_allocate_n), [] { on_pool(try_allocate_n, n); }},
    {"try_allocate_n_span", address(try_allocate_n_span), [] { on_pool(try_allocate_n_span, n); }},
    {"tensor_constant", address(tensor_constant), [] { on_pool(tensor_constant); }},
    {"tensor_constant_label", address(tensor_constant_label), [] { on_pool(tensor_constant_label); }},
    {"tensor_constant_handle", address(tensor_constant_handle), [] { on_pool(tensor_constant_handle); }},
    {"tensor_m_n", address(tensor_m_n), [] { on_pool(tensor_m_n, 30, 20); }},
    {"tensor_m_n_handle", address(tensor_m_n_handle), [] { on_pool(tensor_m_n_handle, 30, 20); }},
    {"tensor_m_n_size_t", address(tensor_m_n_size_t), [] { on_pool(tensor_m_n_size_t, n, n); }},
    {"scope", address(scope), [] { on_pool(scope); }},
    {"scope_with_block", address(scope_with_block), [] { on_pool(scope_with_block); }},
    {"scope_in_scope", address(scope_in_scope), [] { on_pool(scope_in_scope); }},
    {"scope_with_fence", address(scope_with_fence), [] { on_pool(scope_with_fence); }},
    {"scope_rewind", address(scope_rewind),
     [] {
       Pool pool(memory);
       Scope tile(pool);
       for (int call = 0; call < 2; ++call) scope_rewind(tile);
     }},
    {"save_rewind", address(save_rewind), [] { on_pool(save_rewind); }},
    {"check_live", address(check_live),
     [] {
       Pool pool(memory);
       const Matrix matrix = sp::tensor<float>(pool, 30, 20);
       for (int call = 0; call < 2; ++call) check_live(pool, matrix);
     }},
    {"hand_constant", address(hand_constant), [] { on_carver(hand_constant); }},
    {"hand_n", address(hand_n), [] { on_carver(hand_n, n); }},
    {"hand_n_unchecked", address(hand_n_unchecked), [] { on_carver(hand_n_unchecked, n); }},
    {"hand_scope", address(hand_scope), [] { on_carver(hand_scope); }},
};

[[noreturn]] void cannot(const char* what) {
  std::fprintf(stderr, "cannot %s\n", what);
  std::exit(77);
}

std::uintptr_t step(pid_t child) {
  int status = 0;
  if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || waitpid(child, &status, 0) != child ||
      !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
    std::fprintf(stderr, "a traced function ended early\n");
    std::exit(1);
  }
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, child, nullptr, &registers) != 0) cannot("read registers");
  return registers.rip;
}

// The child stops itself; from there it is stepped to the second call's first instruction, and on until that returns.
void trace(const Case& c) {
  const pid_t child = fork();
  if (child < 0) cannot("fork");
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    raise(SIGSTOP);
    c.run();
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) cannot("trace a child");
  std::uintptr_t at = 0;
  for (int call = 0; call < 2; ++call) {
    do {
      at = step(child);
    } while (at != c.entry);
  }
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, child, nullptr, &registers) != 0) cannot("read registers");
  const long word = ptrace(PTRACE_PEEKDATA, child, registers.rsp, nullptr);
  const auto return_address = static_cast<std::uintptr_t>(word);
  std::printf("%s", c.name);
  while (at != return_address) {
    std::printf(" %zx", static_cast<std::size_t>(at));
    at = step(child);
  }
  std::printf("\n");
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}

}  // namespace
}  // namespace counted

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 4096);  // or the children would print the parent's lines again
  for (const counted::Case& c : counted::cases) counted::trace(c);
}
