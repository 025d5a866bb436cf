"""The closed list of problems a routing file can have; `kinds` says what each means."""

from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """`error`: the file is refused. `warning`: it loads, and the problem is shown."""

    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """The stable name of a kind of problem."""

    # the text
    FILE_UNREADABLE = "file_unreadable"
    NOT_UTF8 = "not_utf8"
    EMPTY_FILE = "empty_file"
    YAML_SYNTAX = "yaml_syntax"
    YAML_TAB = "yaml_tab"
    YAML_TOO_LARGE = "yaml_too_large"
    YAML_UNSUPPORTED = "yaml_unsupported"
    DUPLICATE_KEY = "duplicate_key"
    NOT_A_MAPPING = "not_a_mapping"
    # single values
    UNKNOWN_FIELD = "unknown_field"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    BAD_NUMBER = "bad_number"
    BAD_CHOICE = "bad_choice"
    BAD_TEXT = "bad_text"
    BAD_BACKEND_NAME = "bad_backend_name"
    BAD_MODEL_NAME = "bad_model_name"
    BAD_URL = "bad_url"
    BAD_VARIABLE_NAME = "bad_variable_name"
    INLINE_API_KEY = "inline_api_key"
    # backends
    API_KEY_TWICE = "api_key_twice"
    BACKEND_NAME_TWICE = "backend_name_twice"
    NPU_SHARED = "npu_shared"
    NPU_TWICE = "npu_twice"
    ADDRESS_TWICE = "address_twice"
    ADDRESS_SHARED = "address_shared"
    TENSOR_PARALLEL_MISMATCH = "tensor_parallel_mismatch"
    BATCHED_TOKENS_TOO_FEW = "batched_tokens_too_few"
    CONTAINER_MISLEADS = "container_misleads"
    TLS_KEY_WITHOUT_CERTIFICATE = "tls_key_without_certificate"
    TLS_WITHOUT_HTTPS = "tls_without_https"
    TLS_UNVERIFIED = "tls_unverified"
    TLS_FILES_UNUSABLE = "tls_files_unusable"
    # graph capture
    CAPTURE_NOT_ASCENDING = "capture_not_ascending"
    CAPTURE_UNKNOWN = "capture_unknown"
    CAPTURE_ON_EAGER = "capture_on_eager"
    CAPTURE_UNREACHABLE = "capture_unreachable"
    CAPTURE_TOO_MANY = "capture_too_many"
    SEQS_ABOVE_CAPTURE = "seqs_above_capture"
    SEQS_OFF_GRID = "seqs_off_grid"
    # models
    NAME_COLLISION = "name_collision"
    NAMES_DIFFER_IN_CASE = "names_differ_in_case"
    UNKNOWN_BACKEND = "unknown_backend"
    UNKNOWN_MODEL = "unknown_model"
    FALLBACK_TO_ITSELF = "fallback_to_itself"
    FALLBACK_TWICE = "fallback_twice"
    FALLBACK_DISABLED = "fallback_disabled"
    DEFAULT_MODEL_DISABLED = "default_model_disabled"
    MODEL_WITHOUT_BACKENDS = "model_without_backends"
    BACKENDS_AND_SELECTOR = "backends_and_selector"
    SELECTOR_MATCHES_NOTHING = "selector_matches_nothing"
    BACKEND_TWICE_IN_MODEL = "backend_twice_in_model"
    MODEL_ALL_DISABLED = "model_all_disabled"
    NOTHING_SERVED = "nothing_served"
    BACKEND_UNUSED = "backend_unused"
    ROOTS_DIFFER = "roots_differ"
    LIMIT_ABOVE_CONTEXT = "limit_above_context"
    TIMEOUT_TOO_SHORT = "timeout_too_short"
    TIMEOUT_NEVER_REACHED = "timeout_never_reached"


AT_RUN_TIME: Final = frozenset({Code.FILE_UNREADABLE, Code.TLS_FILES_UNUSABLE})
"""What no text of a routing file can tell: it is found when a gateway takes the file."""
