// SPDX-License-Identifier: MIT
// Leases, drained scopes, events and derived queues on real OpenCL queues. One part per run, named on the command line.
//
// Exits with 0 if the part's claim holds, 1 if not, and 77 if it could not be put to the test here: no device, or a queue
// that lies about its order went unpunished by chance.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <scratchpad/bump_allocator.hpp>
#include <scratchpad/scratch_scope.hpp>
#include <scratchpad/workspace/opencl.hpp>
#include <scratchpad/workspace/workspace_arena.hpp>

namespace sp = scratchpad;

namespace {

// The host must not touch the bytes unmapped, nor while work is queued that reads them.
struct Svm : sp::HostSpace {
  static constexpr std::string_view name = "svm";
  static constexpr std::size_t quantum = sp::dynamic_quantum;
  static constexpr bool host_accessible = false;
};
using Pool = sp::BumpAllocator<Svm>;

constexpr const char* source = R"(
kernel void fill(global uint* scratch, uint value) {
  scratch[get_global_id(0)] = value + (uint)get_global_id(0);
}
kernel void compare(global const uint* scratch, uint value, global uint* wrong, uint round) {
  if (scratch[get_global_id(0)] != value + (uint)get_global_id(0)) atomic_inc(&wrong[round]);
}
)";

constexpr std::size_t rounds = 500;
constexpr std::size_t elements = 4096;  // of scratch, in each round

struct NotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void ok(cl_int code, const char* what) { sp::detail::check_opencl(code, what); }

// The first device that has shared virtual memory and out-of-order queues.
class Device {
 public:
  Device() {
    cl_uint count = 0;
    clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    if (count != 0) ok(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    for (cl_platform_id platform : platforms) {
      cl_uint devices = 0;
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices);
      std::vector<cl_device_id> ids(devices);
      if (devices != 0)
        ok(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr), "clGetDeviceIDs");
      for (cl_device_id candidate : ids) {
        cl_device_svm_capabilities svm = 0;
        cl_command_queue_properties queues = 0;
        clGetDeviceInfo(candidate, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, nullptr);
        clGetDeviceInfo(candidate, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, sizeof queues, &queues, nullptr);
        if (svm != 0 && (queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
          use(candidate);
          return;
        }
      }
    }
    throw NotRun("no OpenCL device with shared virtual memory and out-of-order queues");
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    clReleaseProgram(program);
    clReleaseContext(context);
  }

  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_program program = nullptr;

 private:
  void use(cl_device_id found) {
    id = found;
    cl_int code = 0;
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
    ok(code, "clCreateContext");
    const char* text = source;
    program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    ok(code, "clCreateProgramWithSource");
    ok(clBuildProgram(program, 1, &id, "", nullptr, nullptr), "clBuildProgram");
  }
};

// An OpenCL queue of its own. It is destroyed only when its work has ended: clReleaseCommandQueue does not wait.
class RealQueue {
 public:
  RealQueue(const Device& device, cl_command_queue_properties order) {
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, order, 0};
    cl_int code = 0;
    queue_ = clCreateCommandQueueWithProperties(device.context, device.id, properties, &code);
    ok(code, "clCreateCommandQueueWithProperties");
  }
  RealQueue(const RealQueue&) = delete;
  RealQueue& operator=(const RealQueue&) = delete;
  ~RealQueue() {
    clFinish(queue_);
    clReleaseCommandQueue(queue_);
  }
  cl_command_queue get() const { return queue_; }

 private:
  cl_command_queue queue_ = nullptr;
};
constexpr cl_command_queue_properties out_of_order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

// Says that it is in order and is not: whoever believes it does not wait.
class LyingQueue {
 public:
  explicit LyingQueue(cl_command_queue queue) : queue_(queue) {}
  static constexpr bool is_in_order() { return true; }
  void wait() { queue_.wait(); }
  std::size_t device_alignment() const { return queue_.device_alignment(); }
  cl_command_queue get() const { return queue_.get(); }

 private:
  sp::OpenClQueue queue_;
};

// Kernels, and for each round the number of elements that another round has overwritten.
class Work {
 public:
  explicit Work(const Device& device) : device_(device) {
    cl_int code = 0;
    fill_ = clCreateKernel(device.program, "fill", &code);
    ok(code, "clCreateKernel(fill)");
    compare_ = clCreateKernel(device.program, "compare", &code);
    ok(code, "clCreateKernel(compare)");
    std::vector<cl_uint> zero(rounds, 0);
    wrong_ = clCreateBuffer(device.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, rounds * sizeof(cl_uint),
                            zero.data(), &code);
    ok(code, "clCreateBuffer");
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() {
    clReleaseMemObject(wrong_);
    clReleaseKernel(compare_);
    clReleaseKernel(fill_);
  }

  // One round on `scratch`: fills it, and then, ordered by an event, compares. Returns the event of the second kernel.
  sp::OpenClEvent enqueue(cl_command_queue queue, void* scratch, std::size_t round, cl_event after = nullptr) {
    const auto value = static_cast<cl_uint>(1'000'000 * (round + 1));
    const auto number = static_cast<cl_uint>(round);
    ok(clSetKernelArgSVMPointer(fill_, 0, scratch), "clSetKernelArgSVMPointer");
    ok(clSetKernelArg(fill_, 1, sizeof value, &value), "clSetKernelArg");
    ok(clSetKernelArgSVMPointer(compare_, 0, scratch), "clSetKernelArgSVMPointer");
    ok(clSetKernelArg(compare_, 1, sizeof value, &value), "clSetKernelArg");
    ok(clSetKernelArg(compare_, 2, sizeof(cl_mem), &wrong_), "clSetKernelArg");
    ok(clSetKernelArg(compare_, 3, sizeof number, &number), "clSetKernelArg");
    cl_event filled = nullptr;
    ok(clEnqueueNDRangeKernel(queue, fill_, 1, nullptr, &elements, nullptr, after == nullptr ? 0 : 1,
                              after == nullptr ? nullptr : &after, &filled),
       "clEnqueueNDRangeKernel(fill)");
    cl_event compared = nullptr;
    ok(clEnqueueNDRangeKernel(queue, compare_, 1, nullptr, &elements, nullptr, 1, &filled, &compared),
       "clEnqueueNDRangeKernel(compare)");
    clReleaseEvent(filled);
    return sp::OpenClEvent(compared);
  }

  // How many rounds found their scratch overwritten. \pre all work has ended
  std::size_t wrong_rounds() {
    RealQueue reading(device_, 0);
    std::vector<cl_uint> wrong(rounds, 0);
    ok(clEnqueueReadBuffer(reading.get(), wrong_, CL_TRUE, 0, rounds * sizeof(cl_uint), wrong.data(), 0, nullptr,
                           nullptr),
       "clEnqueueReadBuffer");
    return static_cast<std::size_t>(std::count_if(wrong.begin(), wrong.end(), [](cl_uint n) { return n != 0; }));
  }

 private:
  const Device& device_;
  cl_kernel fill_ = nullptr;
  cl_kernel compare_ = nullptr;
  cl_mem wrong_ = nullptr;
};

int failures = 0;
void check(bool holds, const char* claim) {
  std::printf("%s: %s\n", holds ? "holds" : "DOES NOT HOLD", claim);
  failures += holds ? 0 : 1;
}
#define CHECK(condition) check(condition, #condition)

// ---- what both an honest queue and a liar are put through -----------------------------------------------------------------

struct Outcome {
  std::size_t wrong;
  std::size_t addresses;  // how many different ones the scratch had
};

template <class Queue>
Outcome with_leases(const Device& device, Queue& queue) {
  Work work(device);
  sp::SvmResource svm(device.context);
  std::vector<void*> seen;
  {
    sp::WorkspaceArena arena(queue, &svm);
    for (std::size_t round = 0; round < rounds; ++round) {
      auto lease = arena.lease(elements * sizeof(cl_uint));
      if (std::find(seen.begin(), seen.end(), lease.data()) == seen.end()) seen.push_back(lease.data());
      static_cast<void>(work.enqueue(queue.get(), lease.data(), round));
    }
  }
  clFinish(queue.get());
  return {work.wrong_rounds(), seen.size()};
}

template <class Queue>
Outcome with_scopes(const Device& device, Queue& queue) {
  Work work(device);
  sp::SvmResource svm(device.context);
  sp::WorkspaceArena arena(queue, &svm);
  auto lease = arena.lease(4 * elements * sizeof(cl_uint));
  Pool pool(lease, sp::device_alignment(queue));
  std::vector<void*> seen;
  for (std::size_t round = 0; round < rounds; ++round) {
    sp::ScratchScope scope(pool, sp::drain(queue));
    void* const scratch = pool.allocate<cl_uint>(elements, "scratch").data();
    if (std::find(seen.begin(), seen.end(), scratch) == seen.end()) seen.push_back(scratch);
    static_cast<void>(work.enqueue(queue.get(), scratch, round));
  }
  clFinish(queue.get());
  return {work.wrong_rounds(), seen.size()};
}

template <class Run>
void honest(const Device& device, Run run) {
  for (const cl_command_queue_properties order : {cl_command_queue_properties{0}, out_of_order}) {
    RealQueue real(device, order);
    sp::OpenClQueue queue(real.get());
    CHECK(queue.is_in_order() == (order == 0));
    const Outcome outcome = run(device, queue);
    std::printf("%zu of %zu rounds wrong\n", outcome.wrong, rounds);
    CHECK(outcome.wrong == 0);
    CHECK(outcome.addresses == 1);
  }
}

template <class Run>
void lying(const Device& device, Run run) {
  RealQueue real(device, out_of_order);
  LyingQueue queue(real.get());
  const Outcome outcome = run(device, queue);
  std::printf("%zu of %zu rounds wrong\n", outcome.wrong, rounds);
  CHECK(outcome.addresses == 1);
  if (outcome.wrong == 0)
    throw NotRun("inconclusive: no round went wrong although nothing waited; this proves nothing");
}

// ---- the parts ------------------------------------------------------------------------------------------------------------

// The event, and nothing else, says when the bytes come back.
void events(const Device& device) {
  Work work(device);
  RealQueue real(device, out_of_order);
  sp::OpenClQueue queue(real.get());
  sp::SvmResource svm(device.context);
  sp::WorkspaceArena arena(queue, &svm);
  constexpr std::size_t bytes = elements * sizeof(cl_uint);

  cl_int code = 0;
  const cl_event gate = clCreateUserEvent(device.context, &code);
  ok(code, "clCreateUserEvent");
  auto lease = arena.lease(bytes);
  void* const first = lease.data();
  sp::OpenClEvent done = work.enqueue(real.get(), first, 0, gate);
  const cl_event also_done = done.get();
  ok(clRetainEvent(also_done), "clRetainEvent");
  lease.release_after(std::move(done));

  // The work cannot begin, and yet nothing blocks; the bytes are not lent.
  auto second = arena.lease(bytes);
  CHECK(second.data() != first);
  CHECK(arena.statistics().pending == bytes);
  CHECK(arena.statistics().drains == 0);
  second.release_after(work.enqueue(real.get(), second.data(), 1, gate));
  ok(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  clReleaseEvent(gate);
  sp::OpenClEvent(also_done).wait();
  clFinish(real.get());
  auto third = arena.lease(bytes);
  CHECK(third.data() == first);
  CHECK(arena.statistics().pending == 0);
  third.release_after(work.enqueue(real.get(), third.data(), 2));

  for (std::size_t round = 3; round < rounds; ++round) {
    auto next = arena.lease(bytes);
    next.release_after(work.enqueue(real.get(), next.data(), round));
  }
  CHECK(arena.statistics().drains == 0);
  clFinish(real.get());
  CHECK(work.wrong_rounds() == 0);
  std::printf("peak %zu bytes for %zu rounds of %zu\n", arena.statistics().peak, rounds, bytes);
}

// A callee that makes a queue of its own for the caller's bytes, and destroys it before it returns.
void derived(const Device& device) {
  Work work(device);
  RealQueue real(device, out_of_order);
  sp::OpenClQueue queue(real.get());
  sp::SvmResource svm(device.context);
  sp::WorkspaceArena arena(queue, &svm);
  for (std::size_t round = 0; round < rounds; ++round) {
    auto lease = arena.lease(elements * sizeof(cl_uint));
    RealQueue own(device, out_of_order);
    static_cast<void>(work.enqueue(own.get(), lease.data(), round));
  }
  CHECK(work.wrong_rounds() == 0);
}

void memory(const Device& device) {
  RealQueue real(device, out_of_order);
  sp::OpenClQueue queue(real.get());
  cl_uint bits = 0;
  ok(clGetDeviceInfo(device.id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr), "clGetDeviceInfo");
  std::printf("the device reports an alignment of %u bits\n", bits);
  CHECK(queue.device_alignment() * 8 == bits);
  CHECK(sp::device_alignment(queue) == queue.device_alignment());
  CHECK(sp::OpenClQueue::bytes_of_bits(1024) == 128);

  sp::SvmResource svm(device.context);
  for (std::size_t alignment = 1; alignment <= 65'536; alignment *= 2) {
    void* const a = svm.allocate(100, alignment);
    void* const b = svm.allocate(100, alignment);
    if (reinterpret_cast<std::uintptr_t>(a) % alignment != 0 || reinterpret_cast<std::uintptr_t>(b) % alignment != 0) {
      std::printf("alignment %zu\n", alignment);
      CHECK(false && "an allocation has the alignment that was asked for");
    }
    svm.deallocate(a, 100, alignment);
    svm.deallocate(b, 100, alignment);
  }
  bool refused = false;
  try {
    static_cast<void>(svm.allocate(std::size_t{1} << 60, 4096));
  } catch (const std::bad_alloc& error) {
    std::printf("%s\n", error.what());
    refused = true;
  }
  CHECK(refused);

  sp::WorkspaceArena arena(queue, &svm);
  CHECK(arena.quantum() == std::max<std::size_t>(queue.device_alignment(), 16));
  auto a = arena.lease(1);
  auto b = arena.lease(1);
  CHECK(static_cast<std::size_t>(b.data() - a.data()) == arena.quantum());
}

void run(std::string_view part) {
  Device device;
  if (part == "leases") return honest(device, [](const Device& d, auto& q) { return with_leases(d, q); });
  if (part == "scopes") return honest(device, [](const Device& d, auto& q) { return with_scopes(d, q); });
  if (part == "leases_of_a_liar") return lying(device, [](const Device& d, auto& q) { return with_leases(d, q); });
  if (part == "scopes_of_a_liar") return lying(device, [](const Device& d, auto& q) { return with_scopes(d, q); });
  if (part == "events") return events(device);
  if (part == "derived") return derived(device);
  if (part == "memory") return memory(device);
  throw std::invalid_argument("no such part");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc == 2 ? argv[1] : "");
  } catch (const NotRun& reason) {
    std::printf("not run: %s\n", reason.what());
    return failures == 0 ? 77 : 1;
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
