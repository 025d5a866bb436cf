"""What the problems of backends and the graphs that they capture mean, and what to do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.config.codes import Code
from gateway.config.kind import Kind, error, warning
from gateway.words import Words

KINDS: Final[Mapping[Code, Kind]] = MappingProxyType(
    {
        Code.API_KEY_TWICE: error(
            Words(
                "`api_key_env` and `api_key_file` are both given.",
                "同时给出了 `api_key_env` 和 `api_key_file`。",
            ),
            Words("Keep one.", "只保留一个。"),
        ),
        Code.BACKEND_NAME_TWICE: error(
            Words("Two backends have one name.", "两个后端同名。"),
            Words("Rename one.", "给其中一个改名。"),
        ),
        Code.NPU_SHARED: error(
            Words(
                "Two enabled backends of one node use the same NPU. NPUs can't be shared.",
                "同一节点上两个启用的后端使用了同一个 NPU。NPU 不能共用。",
            ),
            Words(
                "Correct `npus` or `node`, or set `enabled: false` on one of the two.",
                "改正 `npus` 或 `node`，或把其中一个设为 `enabled: false`。",
            ),
        ),
        Code.NPU_TWICE: error(
            Words("A backend lists an NPU twice.", "一个后端把同一个 NPU 列了两次。"),
            Words("Remove one.", "删掉一个。"),
        ),
        Code.ADDRESS_TWICE: error(
            Words(
                "Two enabled backends have the same host and port (localhost, 127.0.0.1 "
                "and ::1 are one host).",
                "两个启用的后端主机和端口相同（localhost、127.0.0.1 和 ::1 视为同一主机）。",
            ),
            Words(
                "Correct a port, disable one of the two, or, for several names of one "
                "server, use one backend and `{backend, served_name}` in the models.",
                "改正端口，或停用其中一个；如果是同一服务的多个名称，只保留一个后端，"
                "并在模型中写 `{backend, served_name}`。",
            ),
        ),
        Code.ADDRESS_SHARED: warning(
            Words(
                "Two enabled backends share host and port and differ only in the path prefix.",
                "两个启用的后端主机和端口相同，只有路径前缀不同。",
            ),
            Words(
                "Fine behind a reverse proxy; otherwise correct one of them.",
                "若前面是反向代理则没有问题；否则改正其中一个。",
            ),
        ),
        Code.TENSOR_PARALLEL_MISMATCH: warning(
            Words(
                "`tensor_parallel` differs from the number of `npus`.",
                "`tensor_parallel` 与 `npus` 的数量不符。",
            ),
            Words(
                "Make both agree with the launch command; with data parallelism `npus` "
                "is a multiple.",
                "让两者与启动命令一致；使用数据并行时 `npus` 是它的整数倍。",
            ),
        ),
        Code.BATCHED_TOKENS_TOO_FEW: warning(
            Words(
                "`max_num_batched_tokens` is below `max_num_seqs`; the engine would not start so.",
                "`max_num_batched_tokens` 小于 `max_num_seqs`；这样引擎无法启动。",
            ),
            Words("Check both against the launch command.", "对照启动命令核对两者。"),
        ),
        Code.CONTAINER_MISLEADS: warning(
            Words(
                "The container's name reads as another model than the backend serves, so "
                "people will ask for the wrong name.",
                "容器名看上去是另一个模型，使用者会因此请求错误的名称。",
            ),
            Words(
                "Rename the container, or check that the address is really that of this model.",
                "给容器改名，或确认该地址确实是这个模型。",
            ),
        ),
        Code.TLS_KEY_WITHOUT_CERTIFICATE: error(
            Words(
                "`tls.key_file` without `tls.cert_file`.",
                "有 `tls.key_file`，却没有 `tls.cert_file`。",
            ),
            Words("Give both, or only the certificate.", "两者都给出，或只给证书。"),
        ),
        Code.TLS_WITHOUT_HTTPS: warning(
            Words("`tls` has no effect on an http URL.", "`tls` 对 http 地址不起作用。"),
            Words("Use https, or remove `tls`.", "改用 https，或删掉 `tls`。"),
        ),
        Code.TLS_UNVERIFIED: warning(
            Words(
                "`tls.verify: false`: anyone between can read and change the traffic.",
                "`tls.verify: false`：中间的任何人都能读取和篡改流量。",
            ),
            Words(
                "Trust the certificate's authority with `tls.ca_file`.",
                "用 `tls.ca_file` 信任签发证书的机构。",
            ),
        ),
        Code.TLS_FILES_UNUSABLE: error(
            Words(
                "A file of `tls` can't be used; found when the file comes into force.",
                "`tls` 中的某个文件无法使用；在路由文件生效时发现。",
            ),
            Words(
                "Name files that exist, can be read, and belong together.",
                "指定存在、可读且相互匹配的文件。",
            ),
        ),
        Code.CAPTURE_NOT_ASCENDING: error(
            Words(
                "`capture_sizes` are not ascending or repeat.",
                "`capture_sizes` 不是升序，或有重复。",
            ),
            Words("Write each once, ascending.", "每个尺寸只写一次，按升序排列。"),
        ),
        Code.CAPTURE_UNKNOWN: warning(
            Words(
                "A graph backend without `capture_sizes`: the gateway takes "
                "`max_num_seqs` for the number of requests that run fast.",
                "graph 后端没有 `capture_sizes`：网关把 `max_num_seqs` 当作能全速运行的请求数。",
            ),
            Words(
                "Copy cudagraph_capture_sizes from the launch command or the startup log.",
                "从启动命令或启动日志中抄写 cudagraph_capture_sizes。",
            ),
        ),
        Code.CAPTURE_ON_EAGER: warning(
            Words(
                "An eager backend with `capture_sizes`; --enforce-eager captures nothing.",
                "eager 后端写了 `capture_sizes`；--enforce-eager 不会捕获任何图。",
            ),
            Words(
                "Remove the sizes, or set `tier: graph`.", "删掉这些尺寸，或设为 `tier: graph`。"
            ),
        ),
        Code.CAPTURE_UNREACHABLE: warning(
            Words(
                "Capture sizes above `max_num_seqs` are never used.",
                "大于 `max_num_seqs` 的捕获尺寸永远用不到。",
            ),
            Words(
                "Remove them, or raise max_num_seqs in the launch command and here.",
                "删掉它们，或在启动命令和此处同时调大 max_num_seqs。",
            ),
        ),
        Code.CAPTURE_TOO_MANY: warning(
            Words(
                "More than two capture sizes on 310P with tensor parallelism: capture "
                "may fail for want of hardware event ids.",
                "310P 张量并行下捕获尺寸超过两个：硬件 event id 不够，捕获可能失败。",
            ),
            Words("Keep two sizes, such as [4, 8].", "只保留两个尺寸，例如 [4, 8]。"),
        ),
        Code.SEQS_ABOVE_CAPTURE: warning(
            Words(
                "`max_num_seqs` is above the largest capture size: larger batches run "
                "wholly eager.",
                "`max_num_seqs` 大于最大的捕获尺寸：更大的批次会整体以 eager 方式执行。",
            ),
            Words(
                "Nothing, if the gateway's cap is what you want; or capture `max_num_seqs` too.",
                "如果网关的并发上限正合意，则无需处理；否则也捕获 `max_num_seqs` 这个尺寸。",
            ),
        ),
        Code.SEQS_OFF_GRID: warning(
            Words(
                "`max_num_seqs` is not one of the sizes the engine captures by itself "
                "(1, 2, 4, then every 8 below 256, then every 16), so the largest "
                "batches run wholly eager.",
                "`max_num_seqs` 不是引擎自行捕获的尺寸（1、2、4，256 以下每隔 8，其后每隔 16），"
                "最大的批次会整体以 eager 方式执行。",
            ),
            Words(
                "Choose a size on the grid, or give cudagraph_capture_sizes.",
                "选一个引擎会捕获的尺寸，或指定 cudagraph_capture_sizes。",
            ),
        ),
    }
)
