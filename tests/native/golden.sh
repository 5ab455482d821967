#!/bin/sh
# The golden vectors of the kernels with another compiler: `golden.sh COMPILER [RUNNER…]`.
set -e
compiler=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
native=$here/../../native
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
sources="simd.cpp documents/lines.cpp methods/majority.cpp methods/raregrams.cpp decisions/*.cpp text/*.cpp
    features/minhash.cpp features/parity.cpp features/gram_samples.cpp features/qgrams.cpp features/shingles.cpp features/sketch.cpp"
(cd "$native" && $compiler -std=c++20 -O2 -Wall -Wextra -ffp-contract=off -static -I. $sources "$here/golden.cpp" -o "$built/golden")
"$@" "$built/golden"
