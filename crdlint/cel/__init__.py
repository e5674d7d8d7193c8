"""CEL as the API server compiles, types and costs it in x-kubernetes-validations."""
