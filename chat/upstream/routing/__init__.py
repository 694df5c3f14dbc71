"""Rate limits, circuit breakers, retries and fallback models of a request; imports upstream only."""
