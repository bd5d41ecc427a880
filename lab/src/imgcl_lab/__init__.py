"""The studies of imgcl: every table and figure of the paper, and our own."""
