"""A backend as the routing file describes it: one vLLM server on its chips."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from gateway.config.fields import (
    Count,
    Flag,
    Name,
    NpuId,
    PositiveNumber,
    Text,
    Url,
    VariableName,
    as_tuple,
)
from gateway.config.labels import Labels
from gateway.config.url import BackendUrl, parse_backend_url
from gateway.config.vocabulary import Chip, Modality, Tier


class Record(BaseModel):
    """What all records of the routing file have in common: frozen, and no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TlsConfig(Record):
    """How the connection to an https backend is secured."""

    ca_file: Text | None = Field(default=None, description="PEM file of the authorities to trust.")
    cert_file: Text | None = Field(default=None, description="PEM file of our client certificate.")
    key_file: Text | None = Field(
        default=None, description="PEM file of the client certificate's key."
    )
    server_name: Text | None = Field(
        default=None, description="Name to expect in the certificate instead of the URL's host."
    )
    verify: Flag = Field(default=True, description="Check the backend's certificate.")


class BackendConfig(Record):
    """One vLLM server on its chips."""

    name: Name = Field(description="Unique name; letters, digits, `.`, `_`, `-`.")
    url: Url = Field(description="Address, with or without a path prefix, a trailing slash or /v1.")
    served_name: Text = Field(
        description="Model name the engine answers to (--served-model-name); exact, with case."
    )
    root: Text | None = Field(
        default=None, description="Model path expected in `root` of the backend's /v1/models."
    )
    tier: Tier = Field(Tier.GRAPH, description="`graph`, or `eager` for --enforce-eager.")
    node: Text | None = Field(
        default=None, description="Machine that holds the NPUs; default: the host of the URL."
    )
    npus: Annotated[tuple[NpuId, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="NPU ids on the node (ASCEND_RT_VISIBLE_DEVICES)."
    )
    card: Text | None = Field(
        default=None,
        description="Fault domain: backends with the same card on a node fail together.",
    )
    chip: Chip | None = Field(default=None, description="Chip family.")
    tensor_parallel: Count | None = Field(default=None, description="--tensor-parallel-size.")
    max_num_seqs: Count | None = Field(
        default=None,
        description="--max-num-seqs, the hard limit of running requests; engine default 256.",
    )
    capture_sizes: Annotated[tuple[Count, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="cudagraph_capture_sizes, ascending; empty when the engine chooses."
    )
    max_model_len: Count | None = Field(
        default=None, description="--max-model-len in tokens, prompt and answer together."
    )
    max_num_batched_tokens: Count | None = Field(
        default=None, description="--max-num-batched-tokens per step; engine default 2048."
    )
    modalities: Annotated[tuple[Modality, ...] | None, BeforeValidator(as_tuple)] = Field(
        default=None,
        description="What prompts may hold beside text here: image, audio, video; [] for text "
        "only; default: not known, so anything is sent.",
    )
    keys: Annotated[tuple[Text, ...] | None, BeforeValidator(as_tuple)] = Field(
        default=None, description="Names of the client keys that it serves; default: all."
    )
    longest_step_s: PositiveNumber | None = Field(
        default=None,
        description="Seconds that one step of this engine may take at most; default: from its "
        "chip's speed and max_num_batched_tokens.",
    )
    quantization: Text | None = Field(default=None, description="Kind of weights, for people.")
    weight: PositiveNumber = Field(
        default=1.0, description="Share of the load, relative to the others."
    )
    api_key_env: VariableName | None = Field(
        default=None, description="Environment variable that holds the backend's own API key."
    )
    api_key_file: Text | None = Field(
        default=None, description="File that holds the backend's own API key."
    )
    container: Text | None = Field(default=None, description="Name of its container, for people.")
    labels: Labels = Field(default=Labels(), description="Free text labels for selectors.")
    tls: TlsConfig | None = Field(default=None, description="TLS options of an https URL.")
    enabled: Flag = Field(
        default=True, description="`false`: not used, and part of no conflict with other backends."
    )

    @property
    def address(self) -> BackendUrl:
        """The URL in parts."""
        return parse_backend_url(self.url)

    @property
    def base_url(self) -> str:
        """The URL without trailing slash and without /v1, with an explicit port."""
        return self.address.base

    @property
    def node_name(self) -> str:
        """The machine that holds the NPUs: `node`, or else the host of the URL."""
        return self.node or self.address.listener[0]

    @property
    def fault_card(self) -> str:
        """The card that fails as a whole: `card`, or on a 310P the one of its first NPU; else "".

        An Atlas 300I Duo holds two NPUs, numbered from an even one.
        """
        if self.card is None and self.npus and self.chip is Chip.A310P:
            return f"npu-pair {min(self.npus) // 2}"
        return self.card or ""

    @property
    def selectable(self) -> dict[str, str]:
        """What a selector may name: labels, and tier, chip, node, card of the backend."""
        pseudo = {"tier": self.tier.value, "node": self.node_name}
        if self.chip is not None:
            pseudo["chip"] = self.chip.value
        if self.card is not None:
            pseudo["card"] = self.card
        return {**self.labels, **pseudo}
