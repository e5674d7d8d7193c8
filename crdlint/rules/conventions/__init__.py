"""The Kubernetes API conventions, by topic: checks of the profiles `api` and `strict` only.

Source, where a check names no other: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md
"""
