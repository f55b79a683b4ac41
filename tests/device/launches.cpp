/// Preloaded into a program: writes to the file WEFT_LAUNCHES names the kernels that the program has ("has NAME") and those that it launched
/// ("ran NAME", when it first did), by their names in the binary.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace {

struct Size {
  unsigned x, y, z;
};

class Record {
public:
  void has(const void *function, const char *name)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    names_[function] = name;
    write("has", names_[function]);
  }
  void is(const void *kernel, const void *function)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    kernels_[kernel] = function;
  }
  void ran(const void *kernel)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto handle = kernels_.find(kernel);
    const auto name   = names_.find(handle == kernels_.end() ? kernel : handle->second);
    if (name != names_.end() && ran_.insert(name->second).second) write("ran", name->second);
  }

private:
  void write(const char *what, const std::string &name)
  {
    static std::FILE *file = [] {
      const char *path = std::getenv("WEFT_LAUNCHES");
      return path ? std::fopen(path, "w") : nullptr;
    }();
    if (file) std::fprintf(file, "%s %s\n", what, name.c_str()), std::fflush(file);
  }
  std::mutex mutex_;
  std::map<const void *, std::string> names_;
  std::map<const void *, const void *> kernels_;
  std::set<std::string> ran_;
};

Record &record()
{
  static Record *const one = new Record; // outlives everything that may launch
  return *one;
}

template <class Function>
Function next(const char *name)
{
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

// The CUDA runtime's entries, whose arguments are passed on as they are.
extern "C" {

void __cudaRegisterFunction(void **module, const char *function, char *device_function, const char *name, int limit, void *a, void *b,
                            void *c, void *d, int *e)
{
  record().has(function, name);
  next<decltype(&__cudaRegisterFunction)>("__cudaRegisterFunction")(module, function, device_function, name, limit, a, b, c, d, e);
}
int __cudaGetKernel(void **kernel, const void *function)
{
  const int error = next<decltype(&__cudaGetKernel)>("__cudaGetKernel")(kernel, function);
  if (error == 0) record().is(*kernel, function);
  return error;
}
int __cudaLaunchKernel(void *kernel, Size grid, Size block, void **arguments, std::size_t shared, void *stream)
{
  record().ran(kernel);
  return next<decltype(&__cudaLaunchKernel)>("__cudaLaunchKernel")(kernel, grid, block, arguments, shared, stream);
}
int cudaLaunchKernel(const void *function, Size grid, Size block, void **arguments, std::size_t shared, void *stream)
{
  record().ran(function);
  return next<decltype(&cudaLaunchKernel)>("cudaLaunchKernel")(function, grid, block, arguments, shared, stream);
}
int cudaLaunchCooperativeKernel(const void *function, Size grid, Size block, void **arguments, std::size_t shared, void *stream)
{
  record().ran(function);
  return next<decltype(&cudaLaunchCooperativeKernel)>("cudaLaunchCooperativeKernel")(function, grid, block, arguments, shared, stream);
}
int cudaLaunchKernelExC(const void *config, const void *function, void **arguments)
{
  record().ran(function);
  return next<decltype(&cudaLaunchKernelExC)>("cudaLaunchKernelExC")(config, function, arguments);
}
}
