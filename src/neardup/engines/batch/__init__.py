"""The engine for one machine: passes, threads and memory. None of them affects the result."""
