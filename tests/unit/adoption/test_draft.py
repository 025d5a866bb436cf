"""Whatever sources show, the routing file that is made of it loads, and says what they said."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adoption.candidate import Candidate, Fleet, Guess
from gateway.adoption.codes import Code
from gateway.adoption.draft import draft, fields_of, key_variable
from gateway.adoption.findings import Origin
from gateway.adoption.models import models_of, public_name
from gateway.config.export import routing_yaml
from gateway.config.load import load_text
from gateway.config.vocabulary import Chip, Tier
from gateway.words import Language

TEXT = st.text(max_size=12)
NUMBER = st.one_of(st.none(), st.integers(-2, 300), st.just(2**70))


@st.composite
def candidates(draw: st.DrawFn, number: int) -> Candidate:
    guess = Guess(draw(st.sampled_from(["url", "chip", "nothing"])), "x", Code.PORT_DEFAULT, {})
    return Candidate(
        name=f"b{number}",
        scheme=draw(st.sampled_from(["http", "https"])),
        host=draw(st.sampled_from(["127.0.0.1", "::1", "h", "10.0.0.5", "svc.ns.svc", "a b", ""])),
        port=draw(st.sampled_from([0, 1, 8000, 8001, 70000])),
        prefix=draw(st.sampled_from(["", "/llm", "/ü", "/a//b", "?x"])),
        node=draw(st.one_of(st.just(""), TEXT)),
        served_names=tuple(draw(st.lists(TEXT, max_size=3))),
        lora_names=tuple(draw(st.lists(TEXT, max_size=2))),
        model_path=draw(st.one_of(st.none(), TEXT, st.just("/models/x"))),
        quantization=draw(st.one_of(st.none(), TEXT)),
        has_api_key=draw(st.booleans()),
        npus=tuple(draw(st.lists(st.integers(-1, 4), max_size=3))),
        chip=draw(st.one_of(st.none(), st.sampled_from(Chip))),
        tensor_parallel=draw(NUMBER),
        tier=draw(st.sampled_from(Tier)),
        capture_sizes=draw(
            st.one_of(st.none(), st.lists(st.integers(-1, 9), max_size=4).map(tuple))
        ),
        max_num_seqs=draw(NUMBER),
        max_model_len=draw(NUMBER),
        max_num_batched_tokens=draw(NUMBER),
        guesses=(guess,),
        origins=(Origin(draw(TEXT), 1),),
        disabled_by=draw(st.sampled_from(["", "b0"])) if number else "",
    )


FLEETS = st.integers(0, 4).flatmap(
    lambda count: st.tuples(*(candidates(number) for number in range(count)))
)


@settings(max_examples=300, deadline=None)
@given(FLEETS, st.sampled_from(Language), st.lists(TEXT, max_size=3))
def test_it_always_loads_and_round_trips(
    found: tuple[Candidate, ...], language: Language, sources: list[str]
) -> None:
    text = draft(Fleet(found), sources, language)
    loaded = load_text(text, "r.yaml")
    assert not loaded.errors, loaded.render() + text
    assert loaded.config is not None
    assert [b.name for b in loaded.config.backends] == [c.name for c in found]
    again = load_text(routing_yaml(loaded.config), "again.yaml")
    assert again.config == loaded.config


def test_every_fact_is_in_the_file() -> None:
    candidate = Candidate(
        name="9b",
        host="10.0.0.5",
        port=12322,
        served_names=("qwen3.5-9b", "qwen"),
        model_path="/models/Qwen3.5-9B",
        npus=(2, 3),
        chip=Chip.A310P,
        tensor_parallel=2,
        capture_sizes=(4, 1),
        max_num_seqs=8,
        max_model_len=53248,
        has_api_key=True,
    )
    loaded = load_text(draft(Fleet((candidate,)), ["a.sh"], Language.EN), "r.yaml")
    assert loaded.config is not None
    backend, model = loaded.config.backends[0], loaded.config.models[0]
    for name, value in fields_of(candidate).items():
        told = getattr(backend, name)
        assert (list(told) if isinstance(told, tuple) else told) == value, name
    assert backend.capture_sizes == (1, 4)
    assert backend.api_key_env == key_variable("9b") == "BACKEND_9B_API_KEY"
    assert (model.name, model.aliases) == ("qwen3.5-9b", ("qwen",))


def test_a_guess_is_a_comment_above_its_field() -> None:
    values = {"host": "h", "port": "8000"}
    guess = Guess("url", "http://h:8000", Code.PORT_DEFAULT, values)
    candidate = Candidate(name="a", served_names=("m",), guesses=(guess,))
    lines = draft(Fleet((candidate,)), [], Language.EN).splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().startswith("url:"))
    assert lines[at - 1].strip().startswith("# guess: ")
    chinese = draft(Fleet((candidate,)), [], Language.ZH)
    assert "# 猜测：" in chinese


def test_of_two_at_one_address_the_later_is_disabled() -> None:
    found = tuple(Candidate(name=n, served_names=(n,), port=1) for n in ("a", "b", "c"))
    loaded = load_text(draft(Fleet(found), [], Language.EN), "r.yaml")
    assert loaded.config is not None
    assert [b.enabled for b in loaded.config.backends] == [True, False, False]


def test_models_by_what_is_loaded_not_by_what_it_is_called() -> None:
    def one(name: str, served: str, path: str | None, **fields: object) -> Candidate:
        return Candidate(name=name, served_names=(served,), model_path=path, **fields)  # type: ignore[arg-type]

    fleet = Fleet(
        (
            one("a", "q", "/m/Qwen3-8B"),
            one("b", "other", "/elsewhere/Qwen3-8B/", lora_names=("legal",)),
            one("c", "q", "/m/Qwen3-4B"),
            one("d", "/m/x", None),
        )
    )
    found = {m.name: (m.aliases, m.backends) for m in models_of(fleet)}
    assert found == {
        "q": (("other",), (("a", ""), ("b", ""))),
        "c": ((), (("c", ""),)),
        "x": ((), (("d", ""),)),
        "legal": ((), (("b", "legal"),)),
    }


def test_public_names() -> None:
    assert public_name("/models/Qwen3-8B/") == "Qwen3-8B"
    assert public_name("Qwen/Qwen3-8B") == "Qwen3-8B"
    assert public_name(" \x00 ") == "model"
