'use strict';
// Old syntax on purpose, as in run.cjs.
// Settings of glibc's malloc, which other systems ignore. By default every thread keeps what it once allocated, up to
// 64 MB of each allocation that was freed: after a flood of sign-ins and long lists, 190 MB that nothing used.
// The image sets the same (Dockerfile).
module.exports = {
  MALLOC_ARENA_MAX: '2',
  // Larger allocations, such as the memory of Argon2 and of long responses, go back to the system when they are freed.
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '4194304',
};
