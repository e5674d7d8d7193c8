"""The safe road from one CRD to another: which versions change in which release, and why."""
