"""Parts of the test suite itself."""
