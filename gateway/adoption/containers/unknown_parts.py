"""Container commands with a part that has no known value, such as `docker run $IMAGE bash`."""

from dataclasses import replace
from types import MappingProxyType

from gateway.adoption.containers.docker_command import Inside, is_bare_shell
from gateway.adoption.engine.arguments import is_engine_command
from gateway.adoption.sources import Container


def without_unknown(container: Container, unset: tuple[str, ...]) -> Container:
    """The container without what a variable of no known value would have given it.

    An image that was one of these has vanished, so that the shell behind it stands in its place.
    """
    if not unset:
        return container
    known = {name: value for name, value in container.environment.items() if value}
    container = replace(container, environment=MappingProxyType(known))
    if is_bare_shell((container.image,)):
        container = replace(container, image="", argv=(container.image, *container.argv))
    return container


def with_name(inside: Inside, unset: tuple[str, ...]) -> Inside:
    """The same for a command in a container whose name is not known, as with $(docker ps -q).

    It is called by what should give the name, since it must not count as run on the host.
    """
    known = {name: value for name, value in inside.environment.items() if value or not unset}
    inside = replace(inside, environment=MappingProxyType(known))
    if not unset:
        return inside
    name = unset[0] if unset[0].startswith(("$", "`")) else f"${unset[0]}"
    if not inside.container_name:
        return replace(inside, container_name=name)
    words = (inside.container_name, *inside.argv)
    has_vanished = is_bare_shell(words[:1]) or is_engine_command(words)
    return replace(inside, container_name=name, argv=words) if has_vanished else inside
