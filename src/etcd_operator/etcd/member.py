"""One member of a cluster and everything that can be asked of it.

Every call has a deadline and is sent once. Its errors are those of `errors.py`: whoever changes something must tell
apart what was certainly not done from what may have been.
"""

from __future__ import annotations

from etcd_operator.etcd.keys import KeyCalls
from etcd_operator.etcd.leases import LeaseCalls
from etcd_operator.etcd.maintenance import MaintenanceCalls
from etcd_operator.etcd.membership import MembershipCalls
from etcd_operator.etcd.users import UserCalls


class Member(MaintenanceCalls, MembershipCalls, KeyCalls, LeaseCalls, UserCalls):
    """Got from a `Pool`; costs nothing until its first call, and needs no closing."""
