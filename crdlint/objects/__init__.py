"""A custom resource as the API server takes it."""
