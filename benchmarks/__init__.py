"""Speed and recall of neardup beside its fastest peers, in one run on one machine (`make bench`).

Every figure comes from a fresh process pinned to its cores, single-threaded unless the row says
otherwise; the sides take turns, so that a noisy machine is noisy for all, and the best run counts.
Peers are timed from after their imports, with the steps they lack (JSON loading, banding, clusters)
in the fastest form we know; neardup's command is timed whole, from start-up to the last file
written. MB/s counts the bytes of text for signatures, of the JSONL file for dedup; peak memory
includes the loaded corpus.
"""
