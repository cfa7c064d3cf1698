"""Self-paced multi-label learning."""
