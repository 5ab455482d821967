"""Stage 6: verified pairs → what is kept and for which document the others are set aside."""
