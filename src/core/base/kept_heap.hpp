#pragma once
#ifdef __linux__
#include <malloc.h>
#endif

namespace bsvm {

// While one lives, memory that is freed stays with the process. Who works through files one after the
// other takes and frees hundreds of megabytes for each. glibc gives pieces of 32 MB and more back to
// the system at once, and takes them again page by page, each filled with zeros: ten times as long as
// the work itself was seen. Afterwards the limits are those that glibc comes to by itself.
class KeptHeap {
 public:
#ifdef __GLIBC__
  KeptHeap() { limit(1 << 30); }
  ~KeptHeap() {
    limit(32 << 20);
    malloc_trim(0);
  }

 private:
  static void limit(int bytes) {
    mallopt(M_MMAP_THRESHOLD, bytes);
    mallopt(M_TRIM_THRESHOLD, bytes);
  }
#endif
};

}  // namespace bsvm
