"""What the assistant can do: one folder a hand, loaded by path."""
