"""What drives the stages: batch, a ranked list, an index, Spark. No engine changes what is
found."""
