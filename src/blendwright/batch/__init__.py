"""One program or plan done for every row of a table: cases, their outputs and results, and the engines that run them."""
