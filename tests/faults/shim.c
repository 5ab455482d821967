// Faults below a folder, for a process that has this library preloaded: `faults_arm` chooses what happens at which call.
//
// Writes and syncs of files below the folder are counted. At the chosen call a write fails, is cut short or finds the
// disk full, a sync fails, the process dies, or the power fails. What was not synced then may be lost: before each
// write the bytes that it replaces are remembered, and at the cut each write since the last sync of its file is undone
// or kept by a seeded coin, as a disk may have written any of them. Names (renames, removals) survive; tests/power.py
// loses those too. Allocations of a megabyte and more can fail likewise.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { NONE, EIO_ON_WRITE, FULL, SHORT, EIO_ON_SYNC, NO_MEMORY, KILL, CUT };
enum { LARGE = 1 << 20 };

struct Undo {
    struct Undo *before;
    dev_t device;
    ino_t file;
    int number;  // a descriptor of our own
    off_t at, old_size;
    size_t size, length;  // of the bytes that were there, and of those that were written
    char bytes[];
};

static char folder[PATH_MAX];
static int kind, dense;
static long at, writes, syncs, allocations;
static uint64_t coin;
static struct Undo *undos;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
extern void *__libc_malloc(size_t);

__attribute__((constructor)) static void find(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_writev = dlsym(RTLD_NEXT, "writev");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
}

// With `again`, every later call of the kind fails too, as on a disk that stays full.
void faults_arm(const char *below, int what, long call, int again, uint64_t seed) {
    snprintf(folder, sizeof folder, "%s/", below);
    kind = what, at = call, dense = again, coin = seed | 1;
    writes = syncs = allocations = 0;
}

long faults_calls(int what) { return what == EIO_ON_SYNC ? syncs : what == NO_MEMORY ? allocations : writes; }

static int ours(int file) {
    char link[64], path[PATH_MAX];
    if (kind == NONE || inside) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

static int heads(void) {
    coin = coin * 6364136223846793005ull + 1442695040888963407ull;
    return coin >> 63;
}

static void undo_one(const struct Undo *undo) {
    struct stat now;
    if (undo->size) real_pwrite(undo->number, undo->bytes, undo->size, undo->at);
    if (fstat(undo->number, &now) != 0 || undo->size == undo->length) return;
    if (now.st_size <= undo->at + (off_t)undo->length) {  // it was the end of the file
        if (undo->old_size < now.st_size && ftruncate(undo->number, undo->old_size) != 0) return;
        return;
    }
    char *zeros = __libc_malloc(undo->length - undo->size);
    memset(zeros, 0, undo->length - undo->size);
    real_pwrite(undo->number, zeros, undo->length - undo->size, undo->at + (off_t)undo->size);
}

static void lose_power(int code) {
    for (struct Undo *undo = undos; undo; undo = undo->before)
        if (heads()) undo_one(undo);
    _exit(code);
}

// The end of a process whose power fails afterwards.
void faults_end(int code) {
    inside = 1;
    lose_power(code);
}

static void remember(int file, off_t place, size_t size) {
    struct stat now;
    if (fstat(file, &now) != 0) return;
    const off_t end = place + (off_t)size;
    const size_t there = place >= now.st_size ? 0 : (size_t)((end < now.st_size ? end : now.st_size) - place);
    int number = -1;
    for (struct Undo *undo = undos; undo && number < 0; undo = undo->before)
        if (undo->device == now.st_dev && undo->file == now.st_ino) number = undo->number;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (number < 0) number = open(link, O_RDWR | O_CLOEXEC);
    struct Undo *undo = __libc_malloc(sizeof *undo + there);
    if (number < 0 || !undo) return;
    const ssize_t got = there ? pread(number, undo->bytes, there, place) : 0;
    undo->before = undos, undo->device = now.st_dev, undo->file = now.st_ino, undo->number = number;
    undo->at = place, undo->old_size = now.st_size, undo->size = got < 0 ? 0 : (size_t)got, undo->length = size;
    undos = undo;
}

static void forget(int file) {
    struct stat now;
    if (fstat(file, &now) != 0) return;
    for (struct Undo **link = &undos; *link;) {
        struct Undo *undo = *link;
        if (undo->device == now.st_dev && undo->file == now.st_ino) *link = undo->before;
        else link = &undo->before;
    }
}

static int due(long count) { return count == at || (dense && count > at); }

// How much of a write is done; -1: it fails with errno.
static ssize_t meet_write(int file, off_t place, size_t size) {
    pthread_mutex_lock(&lock);
    inside = 1;
    const int now = due(++writes);
    ssize_t allowed = (ssize_t)size;
    if (kind == CUT) {
        remember(file, place, size);
        if (now) lose_power(137);
    }
    if (now && kind == KILL) raise(SIGKILL);
    if (now && kind == EIO_ON_WRITE) errno = EIO, allowed = -1;
    if (now && kind == FULL) errno = ENOSPC, allowed = -1;
    if (now && kind == SHORT && size > 1) allowed = (ssize_t)(size / 2);
    inside = 0;
    pthread_mutex_unlock(&lock);
    return allowed;
}

ssize_t write(int file, const void *data, size_t size) {
    if (!ours(file)) return real_write(file, data, size);
    const int flags = fcntl(file, F_GETFL);
    struct stat now;
    off_t place = lseek(file, 0, SEEK_CUR);
    if (flags & O_APPEND && fstat(file, &now) == 0) place = now.st_size;
    const ssize_t allowed = meet_write(file, place, size);
    return allowed < 0 ? -1 : real_write(file, data, (size_t)allowed);
}

ssize_t pwrite64(int file, const void *data, size_t size, off_t place) {
    if (!ours(file)) return real_pwrite(file, data, size, place);
    const ssize_t allowed = meet_write(file, place, size);
    return allowed < 0 ? -1 : real_pwrite(file, data, (size_t)allowed, place);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t place) { return pwrite64(file, data, size, place); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (!ours(file) || count < 1) return real_writev(file, parts, count);
    return write(file, parts[0].iov_base, parts[0].iov_len);  // a short write; the caller goes on
}

static int meet_sync(int file, int (*real)(int)) {
    if (!ours(file)) return real(file);
    pthread_mutex_lock(&lock);
    inside = 1;
    const int now = due(++syncs);
    if (kind == CUT) forget(file);
    inside = 0;
    pthread_mutex_unlock(&lock);
    if (now && kind == EIO_ON_SYNC) {
        errno = EIO;
        return -1;
    }
    return kind == CUT ? 0 : real(file);  // the machine does not really lose its power
}

int fsync(int file) { return meet_sync(file, real_fsync); }
int fdatasync(int file) { return meet_sync(file, real_fdatasync); }

void *malloc(size_t size) {
    if (kind != NONE && size >= LARGE && due(__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED)) && kind == NO_MEMORY) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}
