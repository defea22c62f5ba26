"""`python -m blendwright` is the program `blendwright`."""

from blendwright.entry import main

if __name__ == "__main__":
    main()
