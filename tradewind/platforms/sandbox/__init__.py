"""The simulated marketplace as a platform: the 1688 dialect, pointed at our simulator."""
