"""A CRD's schemas for other tools: JSON Schema for editors and checkers, OpenAPI for generators."""
