#!/usr/bin/env bash
# The same tests against a build with AddressSanitizer and UndefinedBehaviorSanitizer.
#
# The module is loaded by an uninstrumented Python, so the sanitizer's runtime must come first
# (LD_PRELOAD), and leaks of Python itself at exit are not ours to report. Only Python's output is captured:
# what a sanitizer says must be seen. Arguments go to pytest.
#
# ASan sees only what malloc gives: texts lie in Arrow's memory, bytes in Python's, so both must use it.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv-sanitize
python=${PYTHON:-python3}
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --upgrade pip "cmake>=3.18" "ninja>=1.11" "scikit-build-core>=0.11,<2" "nanobind>=2.4,<4"
"$venv/bin/python" -m pip install --quiet --no-build-isolation \
  -Cbuild-dir=build/sanitize -Ccmake.build-type=RelWithDebInfo -Ccmake.define.NEARDUP_SANITIZE=ON \
  -Cinstall.strip=false -e ".[all,dev]"
runtime=$("${CXX:-g++}" -print-file-name=libasan.so)
# C++ exceptions cross the module's border: the C++ runtime must be there when ASan starts.
cxx=$("${CXX:-g++}" -print-file-name=libstdc++.so)
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system
# All but what measures start-up, reads pages, starts a browser, or would take too long in a build as
# slow as this one.
LD_PRELOAD="$runtime $cxx" "$venv/bin/python" -m pytest -q --capture=sys -p no:cacheprovider tests \
  --ignore=tests/benchmarks --ignore=tests/test_docs.py --ignore=tests/test_docs_pages.py \
  --ignore=tests/test_imports.py --ignore=tests/test_real_data.py --ignore=tests/quality \
  --ignore=tests/report/test_browser.py --ignore=tests/web --ignore=tests/engines/spark "$@"
