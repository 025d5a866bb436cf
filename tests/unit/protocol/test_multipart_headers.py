"""Boundaries and field names, quoted and not."""

import pytest

from gateway.errors import Outcome, Refusal
from gateway.protocol.multipart_headers import boundary_of, form_field_name, header_parameters


@pytest.mark.parametrize(
    ("value", "boundary"),
    [
        (b"multipart/form-data; boundary=abc", b"abc"),
        (b"Multipart/Form-Data;boundary=abc", b"abc"),
        (b'multipart/form-data; boundary="a b;c"', b"a b;c"),
        (b"multipart/form-data; charset=utf-8; BOUNDARY=abc", b"abc"),
        (
            b"multipart/form-data; boundary=----WebKitFormBoundary7MA4",
            b"----WebKitFormBoundary7MA4",
        ),
        (b'multipart/form-data; x="boundary=no"; boundary=abc', b"abc"),
        (b"multipart/form-data; boundary = abc ; x=1", b"abc"),
    ],
)
def test_boundary(value: bytes, boundary: bytes) -> None:
    assert boundary_of(value) == boundary


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (b"", "missing"),
        (b"application/json", "application/json"),
        (b"multipart/mixed; boundary=abc", "multipart/mixed"),
        (b"multipart/form-data", "boundary"),
        (b"multipart/form-data; boundary=", "boundary"),
        (b'multipart/form-data; boundary=""', "boundary"),
        (b"multipart/form-data; boundary=" + b"a" * 201, "boundary"),
        (b"multipart/form-data boundary=abc", "multipart/form-data boundary=abc"),
    ],
)
def test_no_boundary(value: bytes, word: str) -> None:
    with pytest.raises(Refusal) as caught:
        boundary_of(value)
    assert caught.value.outcome is Outcome.BODY_NOT_MULTIPART
    assert word in caught.value.message


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        (b'Content-Disposition: form-data; name="model"', b"model"),
        (b"content-disposition:form-data;name=model", b"model"),
        (b'X: y\r\nContent-Disposition: form-data; name="model"\r\nZ: 1', b"model"),
        (b'Content-Disposition: form-data; name="a\\"b"', b'a"b'),
        (b'Content-Disposition: form-data; name="file"; filename="x; name=\\"model\\""', None),
        (b'Content-Disposition: form-data; name="model"; filename="m.txt"', None),
        (b"Content-Disposition: form-data; filename*=utf-8''m; name=\"model\"", None),
        (b'Content-Disposition: attachment; name="model"', None),
        (b"Content-Disposition: form-data", None),
        (b"Content-Type: text/plain", None),
        (b"", None),
    ],
)
def test_field_name(headers: bytes, name: bytes | None) -> None:
    assert form_field_name(headers) == name


def test_the_first_of_two_equal_parameters_counts() -> None:
    assert header_parameters(b"K; a=1; A=2; =x; b=3") == (b"k", {b"a": b"1"})
