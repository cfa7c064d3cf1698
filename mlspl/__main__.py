"""`python -m mlspl` is the `mlspl` command."""

from mlspl.cli.main import main

if __name__ == "__main__":
    main()
