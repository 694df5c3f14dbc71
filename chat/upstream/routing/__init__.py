"""One model request through rate limits, circuit breakers and fallback models; imports upstream only."""
