"""A QEMU machine that a test watches and types to: serial line, monitor, screen."""

import json
import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile
import time

TEXT_MEMORY, TEXT_BYTES, TEXT_COLUMNS = 0xB8000, 80 * 25 * 2, 80
EXIT_STATUS = {33: 0, 35: 1, 37: 3}  # isa-debug-exit turns v into 2v + 1; as scripts/qemu has it


class Machine:
    """Boots an image. Use it in a with statement, which ends it."""

    def __init__(self, image, *, more=(), **settings):
        """settings: those of scripts/qemu-command. more: words of QEMU's own."""
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="pmulab-"))
        settings = {"vars": self.scratch / "vars", **settings}
        words = [f"{name.replace('_', '-')}={value}" for name, value in settings.items()]
        command = subprocess.run(["scripts/qemu-command", image, *words], stdout=subprocess.PIPE, text=True, check=True)
        qmp = ["-qmp", f"unix:{self.scratch}/qmp,server=on,wait=off"]
        self.command = [*command.stdout.splitlines(), *qmp, *more]
        self.raw = b""

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.qmp = None
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        if self.qmp:
            self.qmp.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def serial(self):
        """What came over the serial line so far, with LF at the ends of lines."""
        return self.raw.decode(errors="replace").replace("\r\n", "\n")

    def _read(self, seconds):
        """Takes in what the serial line has; False when it is closed."""
        if not select.select([self.process.stdout], [], [], max(0, seconds))[0]:
            return True
        got = os.read(self.process.stdout.fileno(), 65536)
        self.raw += got
        return bool(got)

    def wait_for(self, text, seconds=60, start=0):
        """Waits until the serial line has said it, behind the first `start` characters. False: it did not."""
        end = time.monotonic() + seconds
        while text not in self.serial[start:]:
            if time.monotonic() > end or not self._read(end - time.monotonic()):
                return text in self.serial[start:]
        return True

    def wait(self, seconds=60):
        """Waits for the machine's end; its exit status as scripts/qemu gives it, None when it goes on."""
        end = time.monotonic() + seconds
        while self._read(end - time.monotonic()):
            if time.monotonic() > end:
                return None
        status = self.process.wait(5)
        return EXIT_STATUS.get(status, status + 1000)

    def watch(self):
        """Opens the monitor for stop_reason(), and lets a machine go that was started with -S."""
        self._command("cont")

    def stop_reason(self, seconds=60):
        """Waits for the machine's end; why QEMU ended (guest-shutdown, guest-reset), None when it goes on."""
        if self.wait(seconds) is None:
            return None
        for line in self.lines:
            event = json.loads(line)
            if event.get("event") == "SHUTDOWN":
                return event["data"]["reason"]
        return "no word"

    def type(self, text):
        """Sends bytes over the serial line, as a terminal would."""
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def _command(self, name, **arguments):
        if not self.qmp:
            self.qmp = socket.socket(socket.AF_UNIX)
            self.qmp.settimeout(20)
            for _ in range(100):  # until QEMU has made it
                try:
                    self.qmp.connect(f"{self.scratch}/qmp")
                    break
                except (FileNotFoundError, ConnectionRefusedError):
                    time.sleep(0.1)
            self.lines = self.qmp.makefile("r")
            self.lines.readline()
            self._command("qmp_capabilities")
        self.qmp.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        while line := self.lines.readline():
            answer = json.loads(line)
            if "return" in answer or "error" in answer:
                return answer
        return {}

    def cpu_features(self, model):
        """The features of a -cpu model, as {name: value}; {} when this machine cannot have it."""
        answer = self._command("query-cpu-model-expansion", type="full", model={"name": model})
        return answer.get("return", {}).get("model", {}).get("props", {})

    def press(self, *keys):
        """Presses keys of the PS/2 keyboard, by QEMU's names, one after the other."""
        for key in keys:
            self._command("send-key", keys=[{"type": "qcode", "data": key}], **{"hold-time": 20})
            time.sleep(0.06)

    def text_screen(self):
        """The lines of the VGA text screen, from the video memory."""
        path = self.scratch / "text"
        self._command("pmemsave", val=TEXT_MEMORY, size=TEXT_BYTES, filename=str(path))
        cells = path.read_bytes()[::2].decode("cp437")
        lines = [cells[at : at + TEXT_COLUMNS].rstrip() for at in range(0, len(cells), TEXT_COLUMNS)]
        return "\n".join(lines)

    def picture(self):
        """The path of a picture of the screen (PPM)."""
        path = self.scratch / "screen.ppm"
        self._command("screendump", filename=str(path))
        return path

    def wait_for_screen(self, read, text, seconds=30):
        """Waits until read() (a function that reads the screen) has the text; gives what it read last."""
        end = time.monotonic() + seconds
        while True:
            seen = read()
            if text in seen or time.monotonic() > end:
                return seen
            time.sleep(0.3)
