"""The Lab Streaming Layer, kept on this machine unless somebody asks otherwise.

The layer has no authentication. What can be done is done before the library does anything:

- ``ResolveScope = machine``: streams are looked for on this machine only;
- ``ListenAddress = 127.0.0.1``: questions from the network are not heard, so that nothing is found
  there, neither by multicast nor by broadcast (the scope alone would not prevent that);
- ``KnownPeers = {127.0.0.1}``: every stream of this machine is asked for by its own port, since of
  several programs that listen at one address only one hears a question;
- IPv6 is off.

What cannot be done: the port from which an outlet sends its data listens on all interfaces. A
computer that knows this one's address and asks at that port gets the stream. A firewall prevents
it; and there is nothing in the stream but what the gatekeeper has released.
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


def layer(scope: str) -> Any:
    """The library, with its scope set; the scope of the first call holds for the whole process.

    Whoever has used the library before in the same process has set its scope already.
    """
    text = configuration(scope)
    try:
        import pylsl
    except (ImportError, RuntimeError, OSError) as error:
        raise InputError(
            f"the Lab Streaming Layer cannot be used ({_first_line(error)}): pip install "
            "'eyelid[stream]'"
        ) from None
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


def warn_of_layer(scope: str, tell: Callable[[str], None]) -> None:
    """Say who can read a stream of ours."""
    whose = "any program on this machine" if scope == "machine" else f"anybody within its {scope}"
    tell(
        f"the Lab Streaming Layer knows no tokens: {whose} can find and read what is released, and "
        "without a firewall so can whoever knows this computer's address and asks its ports"
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
