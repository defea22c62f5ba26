"""Batches: one program or plan for every row of a table, with the cases, their outputs and results, and the engines that run them."""
