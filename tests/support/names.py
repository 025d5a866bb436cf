"""The names the tests share with the gateway's outside: metrics, states, codes."""

REQUESTS = "gateway_requests_total"
IN_FLIGHT = "gateway_in_flight_requests"
BACKEND_FAILURES = "gateway_backend_failures_total"
CLIENT_CANCELLED = "gateway_client_cancelled_total"
UNPROBED_STATES = frozenset({"unknown", "starting"})
