"""`python -m blendwright` is the program `blendwright`."""

from blendwright.cli.main import main

if __name__ == "__main__":
    main()
