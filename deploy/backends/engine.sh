#!/usr/bin/env bash
# Starts one vLLM-Ascend engine in a container, from the facts in $VLLM_ETC/NAME.env.
#
#   engine.sh start NAME   in the background; docker starts it again when the server ends
#   engine.sh run NAME     in the foreground, for systemd/vllm@.service, which starts it again
#   engine.sh print NAME   only shows the command: engine.sh print 9b | ascend-gateway adopt script -
#
# What goes together is derived here from one fact each, so that it can't disagree: the mounted NPUs,
# the visible NPUs and the tensor parallel size come from NPUS; --max-num-seqs from CAPTURE_SIZES.
set -euo pipefail

fail() { echo "engine.sh: $*" >&2; exit 1; }

(($# == 2)) || fail "usage: engine.sh start|run|print NAME"
mode=$1 name=$2
etc=${VLLM_ETC:-/etc/vllm}
share=${VLLM_SHARE:-/opt/vllm}
[[ $mode == @(start|run|print) ]] || fail "unknown mode '$mode': start, run or print"
[[ $name =~ ^[a-zA-Z0-9][a-zA-Z0-9_.-]+$ ]] || fail "'$name' can't be the name of a container"
[[ -r $etc/$name.env ]] || fail "$etc/$name.env can't be read"

EXTRA_ENV=() EXTRA_ARGS=()
# shellcheck source=/dev/null
. "$etc/$name.env"
for fact in IMAGE NPUS PUBLISH MODELS_DIR MODELS_MOUNT MODEL SERVED_NAME TIER MAX_MODEL_LEN \
  GPU_MEMORY_UTILIZATION; do
  [[ -n ${!fact:-} ]] || fail "$etc/$name.env does not set $fact"
done

# shellcheck disable=SC2153 # the file sets it
# CANN reads the list only up to the first blank or the first number that is not above the last.
[[ $NPUS =~ ^[0-9]+(,[0-9]+)*$ ]] || fail "NPUS='$NPUS': numbers and commas only, no blanks"
IFS=, read -ra npus <<<"$NPUS"
devices=() previous=-1
for npu in "${npus[@]}"; do
  ((npu > previous)) || fail "NPUS='$NPUS' must ascend, each once"
  previous=$npu
  devices+=(--device "/dev/davinci$npu")
done

tier_args=()
case $TIER in
  graph)
    [[ ${CAPTURE_SIZES:-} =~ ^[0-9]+(,[0-9]+)*$ ]] || fail "TIER=graph needs CAPTURE_SIZES, such as 1,4"
    [[ -z ${MAX_NUM_SEQS:-} ]] || fail "remove MAX_NUM_SEQS: it is the largest of CAPTURE_SIZES"
    IFS=, read -ra sizes <<<"$CAPTURE_SIZES"
    previous=0
    for size in "${sizes[@]}"; do
      ((size > previous)) || fail "CAPTURE_SIZES='$CAPTURE_SIZES' must ascend"
      previous=$size
    done
    # 310P has event ids for two graphs once several NPUs work together.
    ((${#npus[@]} == 1 || ${#sizes[@]} <= 2)) ||
      fail "CAPTURE_SIZES='$CAPTURE_SIZES': at most two with several NPUs on 310P"
    # One request more than the largest size, and the whole batch runs eager.
    MAX_NUM_SEQS=$previous
    tier_args=(--compilation-config
      "{\"cudagraph_mode\":\"FULL_DECODE_ONLY\",\"cudagraph_capture_sizes\":[$CAPTURE_SIZES]}")
    ;;
  eager)
    # A compilation config beside --enforce-eager has no effect and misleads the reader.
    [[ -z ${CAPTURE_SIZES:-} ]] || fail "remove CAPTURE_SIZES: TIER=eager captures nothing"
    [[ ${MAX_NUM_SEQS:-} =~ ^[1-9][0-9]*$ ]] || fail "TIER=eager needs MAX_NUM_SEQS"
    tier_args=(--enforce-eager)
    ;;
  *) fail "TIER='$TIER': graph or eager" ;;
esac

environment=()
for variable in PYTORCH_NPU_ALLOC_CONF=expandable_segments:True HCCL_BUFFSIZE=512 \
  OMP_PROC_BIND=false OMP_NUM_THREADS=1 TASK_QUEUE_ENABLE=1 \
  ASCEND_RT_VISIBLE_DEVICES="$NPUS" "${EXTRA_ENV[@]}"; do
  environment+=(-e "$variable")
done

case $mode in
  # The server is the container's own command, so this starts the server, not a shell.
  start) how=(-d --restart unless-stopped --label ascend-gateway.supervisor=docker) ;;
  run) how=(--rm --label ascend-gateway.supervisor=systemd) ;;
  print) how=(-d --restart unless-stopped) ;;
esac

# Runs in the container. `exec`: the server takes the place of the shell, gets its signals and
# ends the container when it ends. `docker exec` would read no profile, so CANN is set up here.
# shellcheck disable=SC2016
serve='for f in /usr/local/Ascend/ascend-toolkit/set_env.sh /usr/local/Ascend/nnal/atb/set_env.sh; do if [ -r "$f" ]; then . "$f"; fi; done; export LD_LIBRARY_PATH="/usr/local/Ascend/driver/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; exec vllm serve "$@"'

command=(docker run "${how[@]}"
  --name "$name"
  # docker-init as PID 1 buries dead workers and passes SIGTERM on.
  --init
  "${devices[@]}"
  --device /dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc
  -v /usr/local/dcmi:/usr/local/dcmi:ro
  -v /usr/local/bin/npu-smi:/usr/local/bin/npu-smi:ro
  -v /usr/local/Ascend/driver/lib64:/usr/local/Ascend/driver/lib64:ro
  -v /usr/local/Ascend/driver/version.info:/usr/local/Ascend/driver/version.info:ro
  -v /etc/ascend_install.info:/etc/ascend_install.info:ro
  -v "$MODELS_DIR:$MODELS_MOUNT:ro"
  -v "$etc/$name.key.yaml:/run/vllm/engine.yaml:ro"
  -v "$share/one_token.py:/opt/vllm/one_token.py:ro"
  # Workers of one engine pass tensors through shared memory; docker's 64 MB are too few.
  --shm-size 8g
  "${environment[@]}"
  -p "$PUBLISH:8000"
  --log-driver local --log-opt max-size=100m --log-opt max-file=5
  # Asks for one token: /health says 200 while the engine hangs. docs/backends.md argues the numbers.
  --health-cmd "python3 /opt/vllm/one_token.py"
  --health-interval 30s --health-timeout 50s --health-retries 3 --health-start-period 30m
  # Longer than --shutdown-timeout, in which running requests finish.
  --stop-timeout 150
  "$IMAGE"
  bash -c "$serve" serve "$MODEL"
  # Holds the key as `api-key: ...`: a key on the command line is seen by every user of the host.
  --config /run/vllm/engine.yaml
  --host 0.0.0.0 --port 8000
  --served-model-name "$SERVED_NAME"
  --tensor-parallel-size "${#npus[@]}"
  --max-num-seqs "$MAX_NUM_SEQS"
  --max-model-len "$MAX_MODEL_LEN"
  --gpu-memory-utilization "$GPU_MEMORY_UTILIZATION"
  --dtype float16
  --shutdown-timeout 120
  "${tier_args[@]}"
  "${EXTRA_ARGS[@]}")

if [[ $mode == print ]]; then
  printf '%q ' "${command[@]}"
  echo
  exit
fi

for npu in "${npus[@]}"; do
  [[ -e /dev/davinci$npu || -n ${VLLM_NO_DEVICE_CHECK:-} ]] || fail "/dev/davinci$npu does not exist"
done
[[ -r $etc/$name.key.yaml ]] || fail "$etc/$name.key.yaml can't be read; engine.yaml is its pattern"
! grep -q CHANGE-ME "$etc/$name.key.yaml" || fail "$etc/$name.key.yaml still says CHANGE-ME"

# An NPU in two containers fails late and in strange ways, so look before.
running=$(docker ps --quiet)
for id in $running; do
  mounted=$(docker inspect --format '{{.Name}} {{range .HostConfig.Devices}}{{.PathOnHost}} {{end}}' "$id")
  [[ ${mounted%% *} != "/$name" ]] || fail "$name runs already; stop it first: docker stop $name"
  for npu in "${npus[@]}"; do
    [[ " ${mounted#* } " != *" /dev/davinci$npu "* ]] ||
      fail "NPU $npu is in use by the container ${mounted%% *}"
  done
done
# A stopped container of that name has nothing that is needed; its options may be old.
docker rm "$name" >/dev/null 2>&1 || true
exec "${command[@]}"
