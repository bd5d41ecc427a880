"""Changed files for every reader: valid ones to start from, changes that keep their structure, a process to read in."""
