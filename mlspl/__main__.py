"""`python -m mlspl` is the `mlspl` command."""

from mlspl.cli.main import main

main()
