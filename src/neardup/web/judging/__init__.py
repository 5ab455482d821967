"""Judging in the browser: blind pairs, result lists, disagreements, and what the labels say.

Nothing is kept here: a page follows from the files of the folder of judgements, and a label is on
the disk before its request is answered.
"""
