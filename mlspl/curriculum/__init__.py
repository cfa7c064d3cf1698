"""The curriculum room."""
