"""The options of docker, podman, nerdctl and isula that take a value, and those that don't.

Sources: the --help texts of Docker 28, Podman 5, nerdctl 2 and iSulad 2.1.
"""

from typing import Final

from gateway.adoption.containers.options import grammar

_DOCKER: Final = """
add-host annotation attach blkio-weight blkio-weight-device cap-add cap-drop cgroup-parent cgroupns
cidfile cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares cpus
cpuset-cpus cpuset-mems detach-keys device device-cgroup-rule device-read-bps device-read-iops
device-write-bps device-write-iops dns dns-opt dns-option dns-search domainname entrypoint env
env-file expose gpus group-add health-cmd health-interval health-retries health-start-interval
health-start-period health-timeout hostname io-maxbandwidth io-maxiops ip ip6 ipc isolation
kernel-memory label label-file link link-local-ip log-driver log-opt mac-address memory
memory-reservation memory-swap memory-swappiness mount name net net-alias network network-alias
oom-score-adj pid pids-limit platform publish pull restart runtime security-opt shm-size stop-signal
stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver volumes-from
workdir
"""

_OTHERS: Final = """
arch authfile cert-dir cgroup-conf cgroups chrootdirs conmon-pidfile creds decryption-key
env-merge gidmap gpu group-entry health-log-destination health-max-log-count health-max-log-size
health-on-failure health-startup-cmd health-startup-interval health-startup-retries
health-startup-success health-startup-timeout hosts-file hostuser image-volume init-ctr init-path
os passwd-entry personality pidfile pod pod-id-file preserve-fd preserve-fds pull-policy rdt-class
requires retry retry-delay sdnotify seccomp-policy secret shm-size-systemd subgidname subuidname
systemd timeout tz uidmap umask unsetenv variant
cosign-key verify insecure-registry ipfs-address rootfs-quota hook-spec host-channel
external-rootfs files-limit hugetlb-limit env-target-file ns-change-opt
"""

_SWITCHES: Final = """
detach disable-content-trust env-host help http-proxy init interactive no-healthcheck no-hostname
no-hosts oom-kill-disable passwd privileged publish-all quiet read-only read-only-tmpfs replace rm
rmi rootfs sig-proxy tls-verify tty unsetenv-all use-api-socket system-container
"""

RUN: Final = grammar(
    _DOCKER + _OTHERS,
    _SWITCHES,
    """
    a=attach c=cpu-shares d=detach e=env h=hostname i=interactive l=label m=memory p=publish
    P=publish-all q=quiet t=tty u=user v=volume w=workdir
    """,
)
"""`run` and `create`; where two tools differ (isula's --pull), the more common one is taken."""

EXEC: Final = grammar(
    "cidfile detach-keys env env-file index preserve-fd preserve-fds user workdir",
    "detach help interactive latest no-TTY privileged tty",
    "d=detach e=env i=interactive l=latest t=tty T=no-TTY u=user w=workdir",
)
"""`exec`, also that of Compose."""

CLIENT: Final = grammar(
    """
    address cgroup-manager cni-netconfpath cni-path config connection conmon context data-root
    events-backend hooks-dir host hosts-dir identity log-level module namespace network-cmd-path
    network-config-dir out root runroot runtime snapshotter storage-driver storage-opt tlscacert
    tlscert tlskey tmpdir url volumepath
    ansi env-file file parallel profile progress project-directory project-name
    """,
    """
    all-resources compatibility debug debug-full dry-run experimental help insecure-registry noout
    remote rootless syslog tls tlsverify trace transient-store verbose version
    """,
    """
    a=address c=context D=debug f=file H=host l=log-level n=namespace p=project-name r=remote
    v=version
    """,
)
"""What may stand between the tool's name and its subcommand, for Compose too."""
