"""The pacing room."""
