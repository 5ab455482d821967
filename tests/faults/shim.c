// Faults below a folder, for a process that has this library preloaded: `faults_arm` chooses what happens at which call.
//
// Writes and syncs of files below the folder are counted. At the chosen call a write fails, is cut short or finds the
// disk full, a sync fails, the process dies, or the power fails. What was not synced then may be lost: before each
// write the bytes that it replaces are remembered, and at the cut each write since the last sync of its file is undone
// or kept by a seeded coin, as a disk may have written any of them. Names (renames, removals) survive; tests/power.py
// loses those too. Kills and cuts come at syncs, renames and removals as well. Allocations of a megabyte and more can
// fail likewise. Below the folder `socket:` are all sockets, so that connections to a server fail.
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
#include <sys/socket.h>
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
static long at, writes, syncs, allocations, steps, fired;  // steps: writes, syncs, and changes of names
static uint64_t coin;
static struct Undo *undos;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_send)(int, const void *, size_t, int);
static int (*real_rename)(const char *, const char *);
static int (*real_renameat2)(int, const char *, int, const char *, unsigned);
static int (*real_unlink)(const char *);
static int (*real_unlinkat)(int, const char *, int);
static int (*real_mkdir)(const char *, mode_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
extern void *__libc_malloc(size_t);

__attribute__((constructor)) static void find(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_writev = dlsym(RTLD_NEXT, "writev");
    real_send = dlsym(RTLD_NEXT, "send");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_renameat2 = dlsym(RTLD_NEXT, "renameat2");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_unlinkat = dlsym(RTLD_NEXT, "unlinkat");
    real_mkdir = dlsym(RTLD_NEXT, "mkdir");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
}

// With `again`, every later call of the kind fails too, as on a disk that stays full.
void faults_arm(const char *below, int what, long call, int again, uint64_t seed) {
    snprintf(folder, sizeof folder, below[0] == '/' ? "%s/" : "%s", below);
    kind = what, at = call, dense = again, coin = seed | 1;
    writes = syncs = allocations = steps = fired = 0;
}

long faults_calls(int what) {
    if (what == KILL || what == CUT) return steps;
    return what == EIO_ON_SYNC ? syncs : what == NO_MEMORY ? allocations : writes;
}

long faults_fired(void) { return fired; }

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

static int due(long count) {
    const int now = count == at || (dense && count > at);
    fired += now;
    return now;
}

// A kill or a cut before this step.
static void meet_step(void) {
    if (kind != KILL && kind != CUT) return;
    pthread_mutex_lock(&lock);
    inside = 1;
    if (due(++steps)) {
        if (kind == CUT) lose_power(137);
        raise(SIGKILL);
    }
    inside = 0;
    pthread_mutex_unlock(&lock);
}

// How much of a write is done; -1: it fails with errno.
static ssize_t meet_write(int file, off_t place, size_t size) {
    meet_step();
    pthread_mutex_lock(&lock);
    inside = 1;
    ssize_t allowed = (ssize_t)size;
    if (kind == CUT) remember(file, place, size);
    const int now = ++writes && kind >= EIO_ON_WRITE && kind <= SHORT && due(writes);
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
    meet_step();
    pthread_mutex_lock(&lock);
    inside = 1;
    const int now = ++syncs && kind == EIO_ON_SYNC && due(syncs);
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
    if (kind != NONE && size >= LARGE && __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) && kind == NO_MEMORY && due(allocations)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

ssize_t send(int file, const void *data, size_t size, int flags) {
    if (!ours(file)) return real_send(file, data, size, flags);
    const ssize_t allowed = meet_write(file, 0, size);
    if (allowed >= 0) return real_send(file, data, (size_t)allowed, flags);
    shutdown(file, SHUT_RDWR);  // a connection that fails is lost for both sides
    errno = ECONNRESET;
    return -1;
}

static int named(const char *path) { return kind != NONE && !inside && (path[0] != '/' || strncmp(path, folder, strlen(folder)) == 0); }

int rename(const char *old, const char *new) {
    if (named(old)) meet_step();
    return real_rename(old, new);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    if (named(old)) meet_step();
    return real_renameat2(from, old, to, new, flags);
}

int unlink(const char *path) {
    if (named(path)) meet_step();
    return real_unlink(path);
}

int unlinkat(int at_folder, const char *path, int flags) {
    if (named(path)) meet_step();
    return real_unlinkat(at_folder, path, flags);
}

int mkdir(const char *path, mode_t mode) {
    if (named(path)) meet_step();
    return real_mkdir(path, mode);
}
