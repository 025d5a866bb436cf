"""The metrics of several workers as one."""

from prometheus_client.parser import text_string_to_metric_families

from gateway.observe.merge import merged

ONE = b"""# HELP gateway_requests_total Requests.
# TYPE gateway_requests_total counter
gateway_requests_total{model="m"} 3.0
# TYPE gateway_request_duration_seconds histogram
gateway_request_duration_seconds_bucket{le="1.0"} 2.0
gateway_request_duration_seconds_bucket{le="+Inf"} 3.0
gateway_request_duration_seconds_count 3.0
gateway_request_duration_seconds_sum 4.5
# TYPE gateway_in_flight_requests gauge
gateway_in_flight_requests{backend="b"} 2.0
# TYPE gateway_backend_cap_requests gauge
gateway_backend_cap_requests{backend="b"} 4.0
"""
OTHER = (
    ONE
    + b"""# TYPE gateway_request_errors counter
gateway_request_errors_total{code="x"} 1.0
"""
)


def test_tallies_and_loads_are_added_and_other_gauges_are_not() -> None:
    samples = {
        sample.name: sample.value
        for family in text_string_to_metric_families(merged([ONE, OTHER, ONE]).decode())
        for sample in family.samples
        if sample.labels.get("le") != "1.0"
    }
    assert samples == {
        "gateway_requests_total": 9.0,
        "gateway_request_duration_seconds_bucket": 9.0,
        "gateway_request_duration_seconds_count": 9.0,
        "gateway_request_duration_seconds_sum": 13.5,
        "gateway_in_flight_requests": 6.0,
        "gateway_backend_cap_requests": 4.0,
        "gateway_request_errors_total": 1.0,
    }


def test_one_worker_is_told_as_it_is() -> None:
    assert merged([ONE]) is ONE
