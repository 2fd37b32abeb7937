"""Limits and identities of child processes, as arguments `preexec_fn` of subprocess."""
import os
import pwd
import resource


def limited(**limits):
    """A function that sets limits of the child process: limited(AS=500 << 20)."""
    def apply():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
    return apply


def as_nobody():
    """Gives up the rights of root."""
    user = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
