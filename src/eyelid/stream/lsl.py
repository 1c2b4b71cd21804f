"""The Lab Streaming Layer, not announced beyond this machine unless somebody asks otherwise.

The layer has no authentication. What can be done is done before the library does anything:

- ``ResolveScope = machine``: streams are looked for on this machine only;
- ``ListenAddress = 127.0.0.1``: questions to everybody on the network, by multicast or broadcast,
  are not heard (the scope alone would not prevent that);
- ``KnownPeers = {127.0.0.1}``: every stream of this machine is asked for by its own port, since of
  several programs that listen at one address only one hears a question;
- IPv6 is off.

What cannot be done: every outlet has ports of its own, TCP and UDP, which the library opens on all
interfaces and by which it answers whoever asks: with what the stream is called, which computer it
comes from and what is written about it, and with the stream itself. Only a firewall prevents that.
So little is written about a stream (`eyelid.stream.sinks.lsl_outlet`), and there is nothing in it
but what the gatekeeper has released. The tracker's own stream is the tracker's: whoever can reach
it reads raw gaze beside us.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from eyelid.errors import InputError, unknown

SCOPES = ("machine", "link", "site", "organization", "global")
STREAM_TYPE = "Gaze"

_settings: list[str] = []
_lock = threading.Lock()


def configuration(scope: str) -> str:
    """What the library is told, as the text of its configuration file.

    >>> "ListenAddress = 127.0.0.1" in configuration("machine")
    True
    """
    if scope not in SCOPES:
        raise unknown("scope of the Lab Streaming Layer", scope, SCOPES)
    lines = ["[multicast]", f"ResolveScope = {scope}"]
    if scope == "machine":
        lines += ["ListenAddress = 127.0.0.1", "TTLOverride = 0"]
        lines += ["[ports]", "IPv6 = disable", "[lab]", "KnownPeers = {127.0.0.1}"]
        # Answers from this machine come at once: known peers need not wait for others to be silent.
        lines += ["[tuning]", "MulticastMinRTT = 0.02", "UnicastMinRTT = 0.05"]
    # Only what ends the program is worth a line among ours.
    return "\n".join([*lines, "[log]", "level = -3", ""])


def needs_layer() -> Any:
    """The library; fail where it is not installed, before a stream has begun."""
    try:
        import pylsl
    except (ImportError, RuntimeError, OSError) as error:
        raise InputError(
            f"the Lab Streaming Layer cannot be used ({_first_line(error)}): pip install "
            "'eyelid[stream]'"
        ) from None
    return pylsl


def layer(scope: str) -> Any:
    """The library, with its scope set; the scope of the first call holds for the whole process.

    Whoever has used the library before in the same process has set its scope already.
    """
    text = configuration(scope)
    pylsl = needs_layer()
    with _lock:
        if not _settings:
            try:
                pylsl.set_config_content(text)
            except (AttributeError, NotImplementedError):
                raise InputError(
                    "this Lab Streaming Layer cannot be kept on this machine: it needs pylsl 1.18 "
                    "and liblsl 1.17.7 or newer"
                ) from None
            _settings.append(text)
        elif _settings != [text]:
            raise InputError(
                "the scope of the Lab Streaming Layer is set already in this process: start "
                "another one"
            )
    return pylsl


def warn_of_layer(scope: str, tell: Callable[[str], None], raw: bool = False) -> None:
    """Say who can read a stream of ours, or the tracker's.

    Args:
        scope: of the layer.
        tell: is told.
        raw: whether it is the tracker's.
    """
    whose = "any program on this machine" if scope == "machine" else f"anybody within its {scope}"
    told = (
        f"{whose} can read the tracker's RAW stream beside eyelid, and so can whoever else reaches "
        "the tracker's ports: close them with a firewall"
        if raw
        else f"{whose} can find and read what is released. It is not announced by multicast beyond "
        "that, but answers whoever asks its ports: use a firewall"
    )
    tell(f"the Lab Streaming Layer knows no tokens: {told}")


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
