"""What the assistant knows: one folder a skill, read, never imported."""
