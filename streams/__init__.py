"""Motion that other programs send while they run: packets, frames, recordings. Standard library and NumPy only."""
