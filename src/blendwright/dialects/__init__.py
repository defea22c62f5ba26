"""External formats of plans: each parses its text into a Plan and renders a RunReport into its result contract."""
