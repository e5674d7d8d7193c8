"""A linter and migration checker for Kubernetes CustomResourceDefinitions."""

__version__ = "0.1.0"
