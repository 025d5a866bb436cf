"""The waiting line, against a plain list."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.placement.queue import WaitingLine


@given(
    st.lists(st.tuples(st.sampled_from(["join", "leave"]), st.integers(0, 6))), st.integers(0, 5)
)
def test_it_behaves_like_a_bounded_list(steps: list[tuple[str, int]], bound: int) -> None:
    line: WaitingLine[int] = WaitingLine(bound)
    model: list[int] = []
    for step, one in steps:
        if step == "leave":
            line.leave(one)
            model = [other for other in model if other != one]
        elif one not in model:
            assert line.join(one) == (len(model) < bound)
            model = [*model, one][:bound]
        assert list(line) == model
        assert len(line) == len(model) <= bound
        assert line.first == (model[0] if model else None)
    assert repr(line) == f"<WaitingLine {len(model)} of {bound}>"
