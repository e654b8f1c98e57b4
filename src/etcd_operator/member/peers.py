"""Asking the other members who belongs to the cluster, on the port where etcd asks them itself.

`GET /members` on the peer port is there in every version since 3.2, needs no client certificate and no password of
etcd's users, and its answer through mutual TLS proves along the way that the peers will let this member in.
"""

from __future__ import annotations

import ssl
import time
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from etcd_operator.member.listing import AfterOthers, Members, NotYet, Silence, compare, members_in
from etcd_operator.member.refusal import Refusal
from etcd_operator.member.settings import PeerFiles, Settings
from etcd_operator.member.verdict import Start
from etcd_operator.member.waiting import Journal, Questions, pause_after

CALL_SECONDS = 2.0
ROUND_SECONDS = 1.0  # one that takes longer is silent for now; nobody waits for a node that is off
TURN_SECONDS = 5.0  # for those that start before this one; their images may have to be pulled, or their nodes be off
LARGEST = 1 << 20  # bytes of an answer
TOO_LATE = Silence("no answer in time")


def ask(url: str, files: PeerFiles | None) -> Members | Silence:
    try:
        connection = _connection(url, files)
        try:
            connection.request("GET", "/members", headers={"Connection": "close"})
            response = connection.getresponse()
            body = response.read(LARGEST)
        finally:
            connection.close()
        if response.status != 200:
            return Silence(f"HTTP status {response.status}")
        return members_in(body)
    except TimeoutError:
        return TOO_LATE
    except (OSError, HTTPException, ValueError) as error:
        return Silence(_reason(error))


def _connection(url: str, files: PeerFiles | None) -> HTTPConnection:
    place = urlsplit(url)
    host = place.hostname or ""
    if place.scheme == "http" or files is None:
        return HTTPConnection(host, place.port, timeout=CALL_SECONDS)
    return HTTPSConnection(host, place.port, timeout=CALL_SECONDS, context=_context(files))


def _context(files: PeerFiles) -> ssl.SSLContext:
    """Made for each call, since certificates are renewed while a member waits; it takes a millisecond."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # etcd believes an intermediate authority alone; OpenSSL does so only if told.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(files.ca)
    context.load_cert_chain(files.certificate, files.key, password=_nobody_to_ask)
    return context


def _nobody_to_ask() -> str:
    raise ValueError("the key is encrypted, and there is nobody to ask for its password")


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror} ({error.filename})" if error.filename else error.strerror
    return str(error) or type(error).__name__


def wait_for_listing(settings: Settings, journal: Journal) -> Start | Refusal:
    """Waits for ever: whoever made this pod adds the member, or makes another pod for the list that there is."""
    questions = Questions({url: partial(ask, url, settings.peer_files) for url in settings.peers})
    began = time.monotonic()
    listed_at: float | None = None
    while True:
        answers = questions.ask(within=ROUND_SECONDS)
        silent: dict[str, Members | Silence] = dict.fromkeys(settings.peers, TOO_LATE)
        outcome = compare(silent | answers, settings)
        if isinstance(outcome, AfterOthers):
            listed_at = listed_at or time.monotonic()
            if time.monotonic() - listed_at > TURN_SECONDS:
                return Start(f"{outcome.why[:-1]}, for which it has waited long enough.")
        elif not isinstance(outcome, NotYet):
            return outcome
        journal.say(outcome.why)
        time.sleep(pause_after(time.monotonic() - (listed_at or began)))
