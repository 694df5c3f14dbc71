"""`make bench`: what the server costs and how long it lets wait, beside a relay that only passes on."""
