"""What we measured with the library, beside it and not in the wheel: each study writes a page of `docs/`."""
