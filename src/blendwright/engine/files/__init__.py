"""Files that calls read and write: allowed roots, staging, scratch and delivery."""
