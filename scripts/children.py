"""Programs that are started by a script and must not outlive it, however it ends."""

import ctypes
import os
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1  # Linux, prctl(2)


def die_with_parent(how):
    """Asks the kernel to send this process that signal when its parent ends. Elsewhere than on Linux: nothing."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, how, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def end_in_order():
    """Lets a signal that ends this script run its finally: blocks, with the exit status that a shell would see."""

    def end(number, _):
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:  # a shell's background job ignores SIGINT
            signal.signal(number, end)
    if "MAKELEVEL" in os.environ:  # make does not pass on what ends it
        die_with_parent(signal.SIGTERM)


class Child(subprocess.Popen):
    """A program that dies with this script. In a with statement it is ended on the way out."""

    def __init__(self, command, **more):
        super().__init__([str(word) for word in command], preexec_fn=lambda: die_with_parent(signal.SIGKILL), **more)

    def __exit__(self, kind, value, traceback):
        if self.poll() is None:
            self.terminate()
            try:
                self.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()
        super().__exit__(kind, value, traceback)
