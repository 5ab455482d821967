#!/usr/bin/env bash
# Every kernel in four threads at once under ThreadSanitizer: `threads.sh [ROUNDS]`. It tests the core without Python,
# because ThreadSanitizer does not see the locks of an interpreter that was built without it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
built=$root/build/threads
compiler=${CXX:-g++}
flags="-std=c++20 -O1 -g1 -ffp-contract=off -fsanitize=thread -DNEARDUP_THREADS -I$root/native"
mkdir -p "$built"
compile() {
  object=$built/$(echo "${1#"$root"/}" | tr / -).o
  [ "$object" -nt "$1" ] || $compiler $flags -c "$1" -o "$object"
}
export -f compile
export root built compiler flags
find "$root/native" -name '*.cpp' -not -path '*/bindings/*' -print0 |
  xargs -0 -P "$(nproc)" -I FILE bash -c 'compile FILE'
compile "$here/../fuzz/kernels.cpp"
"$compiler" -fsanitize=thread "$built"/*.o -o "$built/threads"
TSAN_OPTIONS=halt_on_error=1 "$built/threads" "${1:-20000}"
