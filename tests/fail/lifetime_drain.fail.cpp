// SPDX-License-Identifier: MIT
// expect: address of stack memory associated with local variable 'queue'
// flags: -Werror=return-stack-address
// compiler: clang
#include <scratchpad/workspace/queue.hpp>

namespace sp = scratchpad;

struct Stream {
  bool is_in_order() const { return true; }
  void wait() {}
};

#ifdef MUST_FAIL
sp::Drain<Stream> fence() {
  Stream queue;
  return sp::drain(queue);
}
#else
sp::Drain<Stream> fence(Stream& queue) { return sp::drain(queue); }
#endif
