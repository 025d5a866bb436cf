"""The model field is found in any form, however it is cut; the rest stays as it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import Outcome, Refusal
from gateway.protocol.multipart import Edit, MultipartModelScanner, edited, length_change

FILE = b'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav'
# Content that looks like a model field, but without the boundary of this form.
DECOY = (
    b'\r\n--c\r\nContent-Disposition: form-data; name="model"\r\n\r\nno'
    b"\r\n--bx\r\n\r\n--b-\r\n--b \r\n"
)


def field(name: str, value: bytes) -> tuple[bytes, bytes]:
    return f'Content-Disposition: form-data; name="{name}"'.encode(), value


def form(*parts: tuple[bytes, bytes], boundary: bytes = b"b", end: bytes = b"--\r\n") -> bytes:
    body = b"".join(b"--%b\r\n%b\r\n\r\n%b\r\n" % (boundary, head, text) for head, text in parts)
    return body + b"--" + boundary + end


def scan(body: bytes, step: int = 1 << 20, boundary: bytes = b"b") -> MultipartModelScanner:
    scanner = MultipartModelScanner(boundary)
    for at in range(0, len(body), step):
        scanner.feed(body[at : at + step])
    return scanner


FORMS = [
    (form(field("model", b"m"), (FILE, b"RIFF")), [b"m"], "m"),
    (form((FILE, b"RIFF"), field("model", b"m")), [b"m"], "m"),
    (form((FILE, DECOY * 3), field("model", b"m")), [b"m"], "m"),
    (form((FILE, DECOY)), [], None),
    (
        form(field("model", b"a"), field("model", b"b\xe4\xbd\xa0")),
        [b"a", b"b\xe4\xbd\xa0"],
        "b\u4f60",
    ),
    (form(field("model", b"")), [b""], None),
    (form(field("model", b"m"), end=b"--"), [b"m"], "m"),
    (form(field("model", b"m"), end=b"--\r\nepilogue --b\r\n"), [b"m"], "m"),
    (b"preamble\r\n" + form(field("model", b"m")), [b"m"], "m"),
    (form((b"content-disposition: form-data; name=model", b"m")), [b"m"], "m"),
    (form((b"", b"nameless"), field("model", b"m\r\n")), [b"m\r\n"], "m\r\n"),
    (form((b'Content-Disposition: form-data; name="model"; filename="f"', b"m")), [], None),
    (form(field("models", b"m"), field("x", b"model")), [], None),
    (form(field("model", b"m\r\n--bb")), [b"m\r\n--bb"], "m\r\n--bb"),
    (b"--b--\r\n", [], None),
]


@pytest.mark.parametrize(("body", "values", "model"), FORMS)
@pytest.mark.parametrize("step", [1, 2, 7, 1 << 20])
def test_forms(body: bytes, values: list[bytes], model: str | None, step: int) -> None:
    scanner = scan(body, step)
    scanner.finish()
    assert [body[start:end] for start, end in scanner.spans] == values
    assert scanner.model == model


@pytest.mark.parametrize(
    ("value", "is_stream"), [(b"true", True), (b"1", True), (b"false", False), (b"", False)]
)
def test_stream_field(value: bytes, is_stream: bool) -> None:
    assert scan(form(field("stream", value))).is_stream is is_stream


def test_no_stream_field() -> None:
    assert not scan(form(field("model", b"m"))).is_stream


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "boundary does not occur"),
        (b'{"model":"m"}', "boundary does not occur"),
        (form(field("model", b"m"), boundary=b"c"), "boundary does not occur"),
        (b"--b\r\n", "before its closing"),
        (form(field("model", b"m"), end=b""), "before its closing"),
        (form(field("model", b"m"), end=b"-"), "before its closing"),
        (form((FILE, b"R" * 100))[:-50], "before its closing"),
    ],
)
def test_a_broken_form_is_refused(body: bytes, word: str) -> None:
    scanner = scan(body)
    assert not scanner.is_complete
    with pytest.raises(Refusal, match=word) as caught:
        scanner.finish()
    assert caught.value.outcome is Outcome.BODY_NOT_MULTIPART


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (form(field("model", b"m" * 4097)), Outcome.MODEL_REQUIRED),
        (form(field("model", b"m" * 100_000))[:-10], Outcome.MODEL_REQUIRED),
        (form(field("stream", b"m" * 100_000)), Outcome.BODY_NOT_MULTIPART),
        (form((b"X: " + b"y" * 20_000, b"")), Outcome.BODY_NOT_MULTIPART),
    ],
)
@pytest.mark.parametrize("step", [1000, 1 << 20])
def test_what_exceeds_a_bound_is_refused(body: bytes, outcome: Outcome, step: int) -> None:
    with pytest.raises(Refusal) as caught:
        scan(body, step)
    assert caught.value.outcome is outcome


def test_a_model_that_is_not_utf8_is_refused() -> None:
    scanner = scan(form(field("model", "\u4f60\u597d".encode("gbk"))))
    with pytest.raises(Refusal) as caught:
        _ = scanner.model
    assert (caught.value.outcome, caught.value.param) == (Outcome.BODY_NOT_UTF8, "model")


def test_the_longest_name_is_taken_in_any_cut() -> None:
    body = form(field("model", b"m" * 4096), (FILE, b"x"))
    for step in (1, 999, 1 << 20):
        assert scan(body, step).model == "m" * 4096


def test_files_are_not_kept() -> None:
    scanner = scan(form((FILE, b"\r\n--" * 500_000), field("model", b"m"))[:-30], 65536)
    assert len(scanner._buffer) < 200


def test_the_scanner_shows_its_state() -> None:
    assert repr(scan(form(field("model", b"m"), end=b"")[:-6])) == (
        "MultipartModelScanner(content, at=53, models=0)"
    )
    assert "epilogue" in repr(scan(form(field("model", b"m"))))


@pytest.mark.parametrize(("body", "values", "model"), FORMS)
@pytest.mark.parametrize("step", [1, 5, 1 << 20])
def test_the_edited_form_names_the_other_model(
    body: bytes, values: list[bytes], model: str | None, step: int
) -> None:
    scanner = scan(body)
    scanner.finish()
    edits = scanner.edits("served/\u540d")
    pieces = [body[at : at + step] for at in range(0, len(body), step)]
    out = b"".join(edited(pieces, edits))
    assert len(out) == len(body) + length_change(edits)
    again = scan(out)
    again.finish()
    assert again.model == "served/\u540d"
    assert len(again.spans) == max(1, len(values))
    # Taking the new values out again, and the part that was put in, gives the form as it came.
    if values:
        undo = [Edit(*span, old) for span, old in zip(again.spans, values, strict=True)]
    else:
        undo = [Edit(edits[0].start, edits[0].start + len(edits[0].value), b"")]
    assert b"".join(edited([out], undo)) == body


@pytest.mark.parametrize(
    ("pieces", "edits", "out"),
    [
        ([b"abc"], [], b"abc"),
        ([], [Edit(0, 0, b"x")], b"x"),
        ([b"abc"], [Edit(3, 3, b"x")], b"abcx"),
        ([b"abc"], [Edit(0, 3, b"")], b""),
        ([b"a", b"b", b"c", b"d"], [Edit(1, 3, b"xyz")], b"axyzd"),
        ([b"abcd"], [Edit(0, 1, b"x"), Edit(1, 2, b"y"), Edit(3, 3, b"z")], b"xyczd"),
    ],
)
def test_edits(pieces: list[bytes], edits: list[Edit], out: bytes) -> None:
    assert b"".join(edited(pieces, edits)) == out


CONTENT = st.lists(
    st.sampled_from([b"\r\n", b"--", b"b", b"-", b"\r", b"\n", b"--b", b"x", b'name="model"'])
).map(b"".join)
PART = st.tuples(st.sampled_from([FILE, field("model", b"")[0], field("x", b"")[0], b""]), CONTENT)


@settings(max_examples=300, deadline=None)
@given(st.lists(PART, min_size=1, max_size=5), st.data())
def test_any_form_in_any_cut(parts: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    body = form(*parts)
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=6).map(sorted))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    whole, cut = scan(body), MultipartModelScanner(b"b")
    for piece in pieces:
        cut.feed(piece)
    assert (cut.spans, cut.is_complete) == (whole.spans, whole.is_complete)
    edits = whole.edits("mm")
    assert b"".join(edited(pieces, edits)) == b"".join(edited([body], edits))
