"""Measurements, always as ratios: ours and a baseline beside it, in turns, in one run."""
