"""The outer formats: each parses its text into a Plan and renders a RunReport into its own result contract."""
