"""Generated: see CONTRIBUTING.md."""

__version__ = "1.0.0"
