"""The driver for one machine: passes, threads and memory. It never changes what is found."""
