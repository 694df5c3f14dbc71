"""Communication between server processes about runs. Imports only `engine.generation` and below."""
