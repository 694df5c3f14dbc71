"""Random faults against real processes, and whether anything that a viewer saw is missing afterwards."""
