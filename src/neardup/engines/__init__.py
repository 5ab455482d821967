"""The engines that drive the stages: batch, ranked list, index and Spark.

All of them find the same duplicates.
"""
