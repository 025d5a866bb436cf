"""What each kind of problem means, how bad it is, and what to do; the reference page is this."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.config.codes import Code, Severity


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its severity, what it means, and what to do."""

    severity: Severity
    meaning: str
    remedy: str


_E: Final = Severity.ERROR
_W: Final = Severity.WARNING

KINDS: Final[Mapping[Code, Kind]] = MappingProxyType(
    {
        Code.FILE_UNREADABLE: Kind(
            _E, "A running gateway can't read its routing file any more.", "Put it back."
        ),
        Code.NOT_UTF8: Kind(_E, "The file is not UTF-8 text.", "Save it as UTF-8."),
        Code.EMPTY_FILE: Kind(_E, "The file holds nothing.", "Start from `config/minimal.yaml`."),
        Code.YAML_SYNTAX: Kind(
            _E, "The text is not YAML.", "Mend the line; look at indentation, colons and quotes."
        ),
        Code.YAML_TAB: Kind(_E, "A tab stands where YAML wants spaces.", "Replace tabs by spaces."),
        Code.YAML_TOO_LARGE: Kind(
            _E, "The file is too large or too deeply nested.", "Look for a looping anchor."
        ),
        Code.YAML_UNSUPPORTED: Kind(
            _E, "A YAML tag or key that a routing file can't hold.", "Write plain values and keys."
        ),
        Code.DUPLICATE_KEY: Kind(
            _E, "A key is given twice in one mapping.", "Keep one of the two."
        ),
        Code.NOT_A_MAPPING: Kind(
            _E, "The top of the file is not `key: value`.", "Start from `config/minimal.yaml`."
        ),
        Code.UNKNOWN_FIELD: Kind(
            _E, "A field that does not exist.", "Correct the spelling or remove it."
        ),
        Code.MISSING_FIELD: Kind(_E, "A required field is missing or empty.", "Add it."),
        Code.WRONG_TYPE: Kind(
            _E, "A value of the wrong kind, such as a number for a text.", "Write the right kind."
        ),
        Code.BAD_NUMBER: Kind(_E, "A number that can't be, such as zero seats.", "Correct it."),
        Code.BAD_CHOICE: Kind(_E, "A word that is none of the allowed ones.", "Use one of those."),
        Code.BAD_TEXT: Kind(
            _E,
            "A text that is empty, or has control characters or white space around it.",
            "Correct the text.",
        ),
        Code.BAD_BACKEND_NAME: Kind(
            _E,
            "The name of a backend has a character that is not allowed.",
            "Use letters, digits, dot, underscore and hyphen.",
        ),
        Code.BAD_MODEL_NAME: Kind(_E, "The name of a model is too long.", "Shorten it."),
        Code.BAD_URL: Kind(
            _E,
            "The address of a backend can't be used.",
            "Write `http://host:port`, IPv6 in brackets, without query and password.",
        ),
        Code.BAD_VARIABLE_NAME: Kind(
            _E,
            "`api_key_env` is not the name of an environment variable.",
            "Give the name of the variable, never the key itself.",
        ),
        Code.INLINE_API_KEY: Kind(
            _E,
            "A key stands in the file. Routing files are shown, copied and put into version "
            "control.",
            "Put it into a variable or a file and name that with `api_key_env` or "
            "`api_key_file`; then change the key, since it was written down.",
        ),
        Code.API_KEY_TWICE: Kind(
            _E, "`api_key_env` and `api_key_file` are both given.", "Keep one."
        ),
        Code.BACKEND_NAME_TWICE: Kind(_E, "Two backends have one name.", "Rename one."),
        Code.NPU_SHARED: Kind(
            _E,
            "Two enabled backends of one node use the same NPU. NPUs can't be shared.",
            "Correct `npus` or `node`, or set `enabled: false` on one of the two.",
        ),
        Code.NPU_TWICE: Kind(_E, "A backend lists an NPU twice.", "Remove one."),
        Code.ADDRESS_TWICE: Kind(
            _E,
            "Two enabled backends have the same host and port (localhost, 127.0.0.1 and ::1 are "
            "one host).",
            "Correct a port, disable one of the two, or, for several names of one server, use "
            "one backend and `{backend, served_name}` in the models.",
        ),
        Code.ADDRESS_SHARED: Kind(
            _W,
            "Two enabled backends share host and port and differ only in the path prefix.",
            "Fine behind a reverse proxy; otherwise correct one of them.",
        ),
        Code.TENSOR_PARALLEL_MISMATCH: Kind(
            _W,
            "`tensor_parallel` differs from the number of `npus`.",
            "Make both agree with the launch command; with data parallelism `npus` is a multiple.",
        ),
        Code.BATCHED_TOKENS_TOO_FEW: Kind(
            _W,
            "`max_num_batched_tokens` is below `max_num_seqs`; the engine would not start so.",
            "Check both against the launch command.",
        ),
        Code.CONTAINER_MISLEADS: Kind(
            _W,
            "The container's name reads as another model than the backend serves, so people "
            "will ask for the wrong name.",
            "Rename the container, or check that the address is really that of this model.",
        ),
        Code.TLS_KEY_WITHOUT_CERTIFICATE: Kind(
            _E, "`tls.key_file` without `tls.cert_file`.", "Give both, or only the certificate."
        ),
        Code.TLS_WITHOUT_HTTPS: Kind(
            _W, "`tls` has no effect on an http URL.", "Use https, or remove `tls`."
        ),
        Code.TLS_UNVERIFIED: Kind(
            _W,
            "`tls.verify: false`: anyone between can read and change the traffic.",
            "Trust the certificate's authority with `tls.ca_file`.",
        ),
        Code.TLS_FILES_UNUSABLE: Kind(
            _E,
            "A file of `tls` can't be used; found when the file comes into force.",
            "Name files that exist, can be read, and belong together.",
        ),
        Code.CAPTURE_NOT_ASCENDING: Kind(
            _E, "`capture_sizes` are not ascending or repeat.", "Write each once, ascending."
        ),
        Code.CAPTURE_UNKNOWN: Kind(
            _W,
            "A graph backend without `capture_sizes`: the gateway takes `max_num_seqs` for the "
            "number of requests that run fast.",
            "Copy cudagraph_capture_sizes from the launch command or the startup log.",
        ),
        Code.CAPTURE_ON_EAGER: Kind(
            _W,
            "An eager backend with `capture_sizes`; --enforce-eager captures nothing.",
            "Remove the sizes, or set `tier: graph`.",
        ),
        Code.CAPTURE_UNREACHABLE: Kind(
            _W,
            "Capture sizes above `max_num_seqs` are never used.",
            "Remove them, or raise max_num_seqs in the launch command and here.",
        ),
        Code.CAPTURE_TOO_MANY: Kind(
            _W,
            "More than two capture sizes on 310P with tensor parallelism: capture may fail for "
            "want of hardware event ids.",
            "Keep two sizes, such as [4, 8].",
        ),
        Code.SEQS_ABOVE_CAPTURE: Kind(
            _W,
            "`max_num_seqs` is above the largest capture size: larger batches run wholly eager.",
            "Nothing, if the gateway's cap is what you want; or capture `max_num_seqs` too.",
        ),
        Code.SEQS_OFF_GRID: Kind(
            _W,
            "`max_num_seqs` is not one of the sizes the engine captures by itself (1, 2, 4, then "
            "every 8 below 256, then every 16), so the largest batches run wholly eager.",
            "Choose a size on the grid, or give cudagraph_capture_sizes.",
        ),
        Code.NAME_COLLISION: Kind(
            _E, "A name or alias means two models.", "Rename or remove one of the two."
        ),
        Code.NAMES_DIFFER_IN_CASE: Kind(
            _W,
            "Two names differ only in letter case or form. Both work, each exactly as written.",
            "Rename one, if people may mix them up.",
        ),
        Code.UNKNOWN_BACKEND: Kind(
            _E, "A model names a backend that is not in the file.", "Correct the name or add it."
        ),
        Code.UNKNOWN_MODEL: Kind(
            _E,
            "`fallback_models` or `default_model` names no model of the file.",
            "Use the `name` of a model, not an alias.",
        ),
        Code.FALLBACK_TO_ITSELF: Kind(
            _E, "A model has itself as fallback.", "Remove it from the list."
        ),
        Code.FALLBACK_TWICE: Kind(_W, "A fallback is listed twice.", "Remove one."),
        Code.FALLBACK_DISABLED: Kind(
            _W, "A fallback is a disabled model.", "Enable it, or remove it from the list."
        ),
        Code.DEFAULT_MODEL_DISABLED: Kind(
            _E, "`default_model` is disabled.", "Enable it, or choose another."
        ),
        Code.MODEL_WITHOUT_BACKENDS: Kind(
            _E, "A model has neither backends nor a selector.", "Add one of them."
        ),
        Code.BACKENDS_AND_SELECTOR: Kind(
            _E, "A model has both backends and a selector.", "Keep one of them."
        ),
        Code.SELECTOR_MATCHES_NOTHING: Kind(
            _E, "No backend has what the selector asks for.", "Correct the selector or the labels."
        ),
        Code.BACKEND_TWICE_IN_MODEL: Kind(
            _E, "A model lists one backend twice.", "Remove one of the two."
        ),
        Code.MODEL_ALL_DISABLED: Kind(
            _W,
            "All backends of an enabled model are disabled: requests for it get 503.",
            "Enable a backend, or disable the model.",
        ),
        Code.NOTHING_SERVED: Kind(
            _W, "No model is enabled: every request is refused.", "Add or enable a model."
        ),
        Code.BACKEND_UNUSED: Kind(
            _W, "No model uses the backend.", "Add it to a model, or set `enabled: false`."
        ),
        Code.ROOTS_DIFFER: Kind(
            _W,
            "Backends of one model have different model paths, so answers may differ.",
            "Check that they hold the same model; otherwise give each its own public name.",
        ),
        Code.LIMIT_ABOVE_CONTEXT: Kind(
            _W,
            "`max_context_tokens` is above what a backend of the model can hold.",
            "Lower it, or leave it out: the backends' own limit holds then.",
        ),
        Code.TIMEOUT_TOO_SHORT: Kind(
            _W,
            "A time limit is shorter than an ordinary request takes on this tier and chip.",
            "Raise it, or leave it out: the default follows the tier.",
        ),
        Code.TIMEOUT_NEVER_REACHED: Kind(
            _W,
            "`total_s` is shorter than another limit, which therefore never applies.",
            "Raise `total_s`, or lower the other one.",
        ),
    }
)
