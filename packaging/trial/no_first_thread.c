/* Preloaded when an archive is tried out, and part of none: lets the first attempt to make a thread
   fail. The runtime panics on that, which is a panic in the very executable that is packed. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

typedef int creates(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
  static int attempts;
  if (attempts++ == 0) {
    return EAGAIN;
  }
  creates *real = (creates *)dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, run, argument);
}
