"""Users, roles, and authentication as a whole.

Turning it on locks out whoever has not proven that their own login works; the order (user, role, grant, enable,
look) is the caller's to keep.
"""

from __future__ import annotations

import secrets

from etcd_operator.etcd import methods
from etcd_operator.etcd.call import CHANGE, READ, Caller
from etcd_operator.etcd.errors import Reason, RefusedError
from etcd_operator.etcd.pb import auth_pb2
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.results import AuthState, Header, Permission, header_of, permission_of
from etcd_operator.releases.capabilities import Capability, can


class UserCalls(Caller):
    async def auth_enable(self, *, deadline: float = CHANGE) -> Header:
        return header_of((await self.call(methods.AUTH_ENABLE, pb.AuthEnableRequest(), deadline=deadline)).header)

    async def auth_disable(self, *, deadline: float = CHANGE) -> Header:
        return header_of((await self.call(methods.AUTH_DISABLE, pb.AuthDisableRequest(), deadline=deadline)).header)

    async def auth_status(self, *, deadline: float = READ) -> AuthState:
        answer = await self.call(methods.AUTH_STATUS, pb.AuthStatusRequest(), deadline=deadline)
        return AuthState(header_of(answer.header), answer.enabled, answer.authRevision)

    async def authentication_is_on(self, *, deadline: float = READ) -> bool:
        """Also of servers that know no status of it: those tell a stranger whether he would be let in at all."""
        if can(await self.version(deadline=deadline), Capability.AUTH_STATUS):
            return (await self.auth_status(deadline=deadline)).enabled
        request = pb.AuthenticateRequest(name=f"nobody-{secrets.token_hex(8)}", password="-")  # noqa: S106 - of nobody
        try:
            await self.call(methods.AUTHENTICATE, request, deadline=deadline)
        except RefusedError as refusal:
            if refusal.reason is Reason.AUTH_NOT_ENABLED:
                return False
            if refusal.reason is not Reason.AUTH_FAILED:
                raise
        return True

    async def user_add(self, user: str, password: str | None, *, deadline: float = CHANGE) -> Header:
        """Without a password the user can only come with a client certificate of that name."""
        request = pb.AuthUserAddRequest(name=user, password=password)
        if password is None:
            request.options.no_password = True
        needs = Capability.CERTIFICATE_USERS if password is None else None
        return header_of((await self.call(methods.USER_ADD, request, deadline=deadline, needs=needs)).header)

    async def user_delete(self, user: str, *, deadline: float = CHANGE) -> Header:
        request = pb.AuthUserDeleteRequest(name=user)
        return header_of((await self.call(methods.USER_DELETE, request, deadline=deadline)).header)

    async def users(self, *, deadline: float = READ) -> tuple[str, ...]:
        return tuple((await self.call(methods.USER_LIST, pb.AuthUserListRequest(), deadline=deadline)).users)

    async def user_roles(self, user: str, *, deadline: float = READ) -> tuple[str, ...]:
        request = pb.AuthUserGetRequest(name=user)
        return tuple((await self.call(methods.USER_GET, request, deadline=deadline)).roles)

    async def user_change_password(self, user: str, password: str, *, deadline: float = CHANGE) -> Header:
        request = pb.AuthUserChangePasswordRequest(name=user, password=password)
        return header_of((await self.call(methods.USER_CHANGE_PASSWORD, request, deadline=deadline)).header)

    async def user_grant(self, user: str, role: str, *, deadline: float = CHANGE) -> Header:
        request = pb.AuthUserGrantRoleRequest(user=user, role=role)
        return header_of((await self.call(methods.USER_GRANT_ROLE, request, deadline=deadline)).header)

    async def user_revoke(self, user: str, role: str, *, deadline: float = CHANGE) -> Header:
        request = pb.AuthUserRevokeRoleRequest(name=user, role=role)
        return header_of((await self.call(methods.USER_REVOKE_ROLE, request, deadline=deadline)).header)

    async def role_add(self, role: str, *, deadline: float = CHANGE) -> Header:
        """A role without a name ends the process of 3.2 and 3.3, all members of it: that is not sent."""
        if not role:
            raise RefusedError(f"RoleAdd on {self.target}: a role needs a name", Reason.ROLE_EMPTY)
        request = pb.AuthRoleAddRequest(name=role)
        return header_of((await self.call(methods.ROLE_ADD, request, deadline=deadline)).header)

    async def role_delete(self, role: str, *, deadline: float = CHANGE) -> Header:
        request = pb.AuthRoleDeleteRequest(role=role)
        return header_of((await self.call(methods.ROLE_DELETE, request, deadline=deadline)).header)

    async def roles(self, *, deadline: float = READ) -> tuple[str, ...]:
        return tuple((await self.call(methods.ROLE_LIST, pb.AuthRoleListRequest(), deadline=deadline)).roles)

    async def role_permissions(self, role: str, *, deadline: float = READ) -> tuple[Permission, ...]:
        answer = await self.call(methods.ROLE_GET, pb.AuthRoleGetRequest(role=role), deadline=deadline)
        return tuple(permission_of(found) for found in answer.perm)

    async def role_grant(self, role: str, permission: Permission, *, deadline: float = CHANGE) -> Header:
        granted = auth_pb2.Permission(
            permType=permission.access.value, key=permission.key, range_end=permission.range_end
        )
        request = pb.AuthRoleGrantPermissionRequest(name=role, perm=granted)
        return header_of((await self.call(methods.ROLE_GRANT_PERMISSION, request, deadline=deadline)).header)

    async def role_revoke(self, role: str, key: bytes, *, range_end: bytes = b"", deadline: float = CHANGE) -> Header:
        """Takes away what was granted for exactly this range."""
        request = pb.AuthRoleRevokePermissionRequest(role=role, key=key, range_end=range_end)
        return header_of((await self.call(methods.ROLE_REVOKE_PERMISSION, request, deadline=deadline)).header)
