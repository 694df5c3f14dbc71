"""What is deleted for good, after how long: each kind by a setting, in small transactions."""
