/* What the binaries are started with, in place of the C library's own start files: those of a new
   glibc need a new glibc. Linked together with the stand-ins that are made from glibc-2.31-*.txt;
   docs/packaging.md tells why. */

typedef void initializer(int, char **, char **);

extern initializer *__init_array_start[] __attribute__((visibility("hidden")));
extern initializer *__init_array_end[] __attribute__((visibility("hidden")));

/* Before 2.34 the C library leaves the constructors of a program to the program. One of Rust's is
   what makes its arguments known. Newer ones call this for old programs, and nothing twice. */
__attribute__((used)) static void run_initializers(int argc, char **argv, char **envp) {
  for (initializer **one = __init_array_start; one < __init_array_end; one++) {
    (*one)(argc, argv, envp);
  }
}

#if defined(__x86_64__)
/* The processor's part of the ABI, section 3.4.1: the stack holds argc and argv, rdx what to call
   at the end. */
__asm__(".text\n"
        ".globl _start\n"
        ".type _start,@function\n"
        "_start:\n"
        "  xorl %ebp, %ebp\n"
        "  movq %rdx, %r9\n"
        "  popq %rsi\n"
        "  movq %rsp, %rdx\n"
        "  andq $-16, %rsp\n"
        "  pushq %rax\n"
        "  pushq %rsp\n"
        "  xorl %r8d, %r8d\n"
        "  leaq run_initializers(%rip), %rcx\n"
        "  leaq main(%rip), %rdi\n"
        "  call *__libc_start_main@GOTPCREL(%rip)\n"
        "  hlt\n");
/* Of the structures below. */
enum { LAYOUT = 1 };
#elif defined(__aarch64__)
/* The same for this processor: the stack holds argc and argv, x0 what to call at the end. */
__asm__(".text\n"
        ".globl _start\n"
        ".type _start,%function\n"
        "_start:\n"
        "  mov x29, #0\n"
        "  mov x30, #0\n"
        "  mov x5, x0\n"
        "  ldr x1, [sp]\n"
        "  add x2, sp, #8\n"
        "  mov x6, sp\n"
        "  adrp x0, main\n"
        "  add x0, x0, :lo12:main\n"
        "  adrp x3, run_initializers\n"
        "  add x3, x3, :lo12:run_initializers\n"
        "  mov x4, #0\n"
        "  bl __libc_start_main\n"
        "  brk #1\n");
enum { LAYOUT = 0 };
#else
#error "how a program starts on this processor is not written here yet"
#endif

/* Up to 2.32 these were no functions of the library but wrappers that every program carried. */
struct stat64;
int __xstat64(int, const char *, struct stat64 *);
int __lxstat64(int, const char *, struct stat64 *);
int __fxstat64(int, int, struct stat64 *);
int __fxstatat64(int, int, const char *, struct stat64 *, int);

int stat64(const char *path, struct stat64 *into) { return __xstat64(LAYOUT, path, into); }
int lstat64(const char *path, struct stat64 *into) { return __lxstat64(LAYOUT, path, into); }
int fstat64(int file, struct stat64 *into) { return __fxstat64(LAYOUT, file, into); }
int fstatat64(int folder, const char *path, struct stat64 *into, int flags) {
  return __fxstatat64(LAYOUT, folder, path, into, flags);
}

/* A panic ends the process: there are no tables to unwind by, so libgcc_s is not needed. A
   backtrace is empty; everything else is called while unwinding only. */
void abort(void) __attribute__((noreturn));
int _Unwind_Backtrace(void *visit, void *argument) {
  enum { END_OF_STACK = 5 };
  (void)visit;
  (void)argument;
  return END_OF_STACK;
}
#define NEVER(name) \
  void name(void) { abort(); }
NEVER(_Unwind_DeleteException)
NEVER(_Unwind_FindEnclosingFunction)
NEVER(_Unwind_GetCFA)
NEVER(_Unwind_GetDataRelBase)
NEVER(_Unwind_GetGR)
NEVER(_Unwind_GetIP)
NEVER(_Unwind_GetIPInfo)
NEVER(_Unwind_GetLanguageSpecificData)
NEVER(_Unwind_GetRegionStart)
NEVER(_Unwind_GetTextRelBase)
NEVER(_Unwind_RaiseException)
NEVER(_Unwind_Resume)
NEVER(_Unwind_SetGR)
NEVER(_Unwind_SetIP)
