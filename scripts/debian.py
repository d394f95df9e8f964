"""Debian's kernel and perf, fetched by apt and made ready to boot; nothing is installed on the host.

prepare(folder) leaves there, of the packages linux-image-amd64, linux-perf, busybox-static and some of whose programs
perf's tests make use:

  vmlinuz    the kernel as the package has it (a bzImage)
  vmlinux    what is packed in it, an ELF file: a boot that unpacks it itself takes ten times as long
  base.cpio  the initial file system: busybox, perf and its tests, and the libraries that the programs need
  made-of    which packages those are; when it is there all is there, and nothing is fetched

No root is needed. Where apt's own lists are missing or out of date, lists are fetched into the folder.
"""

import contextlib
import fcntl
import gzip
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tarfile

KERNEL = "linux-image-amd64"
PERF = "linux-perf"
# The other files: of which package, their path there as a pattern, their place here.
FILES = (
    (PERF, r"usr/bin/perf", "usr/bin/perf"),
    (PERF, r"usr/lib/perf-core/tests/shell/([^/]+\.sh)", r"usr/lib/perf-core/tests/shell/\1"),
    ("busybox-static", r"(usr/)?bin/busybox", "bin/busybox"),
    # What perf's tests of itself use: a `sleep` with libraries, what busybox lacks, a disassembler.
    ("coreutils", r"(?:usr/)?bin/(nice|sleep)", r"usr/bin/\1"),
    ("binutils-x86-64-linux-gnu", r"usr/bin/x86_64-linux-gnu-objdump", "usr/bin/objdump"),
)
PACKAGES = sorted({package for package, _, _ in FILES})
LOADER = "ld-linux-x86-64.so.2"
LIBRARIES = re.compile(r"z?lib")  # how Debian's names of such packages begin
LIBRARY = re.compile(r"(usr/)?lib(64|/x86_64-linux-gnu)?/[^/]+\.so[^/]*")  # where the loader looks by itself
WHERE = "lib/x86_64-linux-gnu"


class Missing(Exception):
    """What a person must know who does not get the packages."""


# ---- apt ----


class Apt:
    """apt, first with the lists of this system, then, when these do not serve, with lists of our own."""

    def __init__(self, folder):
        for program in ("apt-get", "apt-cache", "dpkg-deb"):
            if not shutil.which(program):
                raise Missing(f"there is no {program}: Debian's packages are fetched by apt, this is not Debian")
        self.folder = folder
        self.options = []

    def _run(self, *words, where=None):
        command = [words[0], *self.options, *words[1:]]
        environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        result = subprocess.run(command, cwd=where, capture_output=True, text=True, env=environment,
                                stdin=subprocess.DEVNULL, check=False)  # fmt: skip
        if result.returncode != 0:
            raise Missing((result.stderr or result.stdout).strip())
        return result.stdout

    def depends(self, package):
        """The packages that it depends on; of alternatives the first."""
        lines = self._run("apt-cache", "depends", "--important", package).splitlines()
        return [line.split()[1] for line in lines if line.startswith("  Depends: ") and "<" not in line]

    def download(self, packages, where):
        """Fetches these packages; gives the files' paths."""
        before = set(where.glob("*.deb"))
        self._run("apt-get", "download", *packages, where=where)
        return sorted(set(where.glob("*.deb")) - before)

    def own_lists(self):
        """Fetches the lists of packages into our own folder and uses them from now on."""
        for name in ("lists", "cache"):
            (self.folder / name / "partial").mkdir(parents=True, exist_ok=True)
        self.options = ["-o", f"Dir::State::Lists={self.folder}/lists", "-o", f"Dir::Cache={self.folder}/cache"]
        self._run("apt-get", "update", "--error-on=any")


def members(package, wanted):
    """The files of a package whose path (without ./) the pattern matches: path, content or the link's target. Who has
    found what it looks for need not wait for the rest."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as unpacking:  # fmt: skip
        try:
            with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
                for member in archive:
                    path = member.name.removeprefix("./")
                    if wanted.fullmatch(path) and member.isfile():
                        yield path, archive.extractfile(member).read()
                    elif wanted.fullmatch(path) and (member.issym() or member.islnk()):
                        yield path, member.linkname
        except tarfile.TarError as why:
            raise Missing(f"{package}: {unpacking.stderr.read().decode().strip() or why}") from why
        finally:
            unpacking.kill()


# ---- The kernel ----


def unpack_kernel(image):
    """The ELF file that is packed in a bzImage. Its place: the setup header of Linux's Documentation/x86/boot.rst."""
    (magic, version) = struct.unpack_from("<4sH", image, 0x202)
    if magic != b"HdrS" or version < 0x208:
        raise Missing("the kernel is no bzImage whose header says where its payload is")
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    payload = image[start : start + length]
    if payload.startswith(b"\xfd7zXZ\0"):
        kernel = lzma.LZMADecompressor().decompress(payload)  # its unpacked size follows: 4 bytes, ignored
    elif payload.startswith(b"\x1f\x8b"):
        kernel = gzip.decompress(payload[:-4])
    else:
        raise Missing(f"the kernel is packed by neither XZ nor gzip: its payload begins with {payload[:4].hex()}")
    if not kernel.startswith(b"\x7fELF"):
        raise Missing("what is packed in the kernel is no ELF file")
    return kernel


# ---- Libraries ----


def needed(elf):
    """The libraries that an ELF file names: DT_NEEDED of its dynamic section."""
    if elf[:6] != b"\x7fELF\x02\x01":
        return []
    (headers,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    segments = [struct.unpack_from("<IIQQQQ", elf, headers + i * size) for i in range(count)]
    dynamic = next(((at, length) for kind, _, at, _, _, length in segments if kind == 2), (0, 0))
    entries = list(struct.iter_unpack("<QQ", elf[dynamic[0] : sum(dynamic) - dynamic[1] % 16]))
    strings = next((value for tag, value in entries if tag == 5), 0)
    # DT_STRTAB is an address: the segment that is loaded there says where it is in the file.
    base = next((at + strings - start for kind, _, at, start, _, length in segments
                 if kind == 1 and start <= strings < start + length), 0)  # fmt: skip
    names = [base + value for tag, value in entries if tag == 1]
    return [elf[at : elf.index(b"\0", at)].decode() for at in names]


class Libraries:
    """The libraries of the packages that were fetched, by their names."""

    def __init__(self):
        self.files = {}  # name: content, or the name of the library that it is a link to

    def add(self, package):
        for path, content in members(package, LIBRARY):
            name = path.rpartition("/")[2]
            target = content.rpartition("/")[2] if isinstance(content, str) else content
            if target != name:  # the same file in another folder
                self.files[name] = target

    def content(self, name):
        """The library of that name, or None."""
        content = self.files.get(name)
        while isinstance(content, str):
            content = self.files.get(content)
        return content

    def closure(self, programs):
        """The libraries that the programs need, by name, and the names of those that are not there."""
        found, missing, ahead = {}, set(), [LOADER, *(name for program in programs for name in needed(program))]
        while ahead:
            name = ahead.pop()
            if name in found or name in missing:
                continue
            content = self.content(name)
            if content is None:
                missing.add(name)
            else:
                found[name] = content
                ahead += needed(content)
        return found, missing


def fetch_libraries(apt, programs, where):
    """Fetches the packages of libraries on which the programs' depend, until none is missing; gives them by name."""
    libraries, known, ahead = Libraries(), set(), PACKAGES
    missing = {LOADER}
    while missing:
        packages = sorted({name for package in ahead for name in apt.depends(package) if LIBRARIES.match(name)} - known)
        if not packages:
            raise Missing(f"no package has the libraries {', '.join(sorted(missing))} that {', '.join(PACKAGES)} need")
        known.update(packages)
        for package in apt.download(packages, where):
            libraries.add(package)
        found, missing = libraries.closure(programs)
        ahead = packages
    return found


# ---- The initial file system ----


class Cpio:
    """An archive in the format newc (Linux's Documentation/driver-api/early-userspace/buffer-format.rst). The same
    calls give the same bytes."""

    def __init__(self):
        self.parts = []
        self.count = 0

    def _entry(self, path, mode, content=b"", links=1, device=(0, 0)):
        self.count += 1
        name = path.encode() + b"\0"
        fields = (self.count, mode, 0, 0, links, 0, len(content), 0, 0, *device, len(name), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self.parts += [head, bytes(-len(head) % 4), content, bytes(-len(content) % 4)]

    def folder(self, path):
        self._entry(path, 0o040755, links=2)

    def file(self, path, content, mode=0o755):
        self._entry(path, 0o100000 | mode, content)

    def link(self, path, target):
        self._entry(path, 0o120777, target.encode())

    def device(self, path, major, minor):
        self._entry(path, 0o020600, device=(major, minor))

    def done(self):
        """The archive's bytes."""
        self.count = -1  # the trailer's number is 0
        self._entry("TRAILER!!!", 0)
        return b"".join(self.parts)


def base_system(files):
    """These files, by their paths, and what the console needs before a /dev is there."""
    cpio = Cpio()
    parents = {str(parent) for path in files for parent in pathlib.PurePosixPath(path).parents} - {"."}
    for path in sorted(parents | {"dev", "etc", "proc", "root", "sys", "tmp"}):
        cpio.folder(path)
    cpio.device("dev/console", 5, 1)
    cpio.device("dev/null", 1, 3)
    cpio.device("dev/ttyS0", 4, 64)
    cpio.file("etc/passwd", b"root::0:0:root:/root:/bin/sh\n", 0o644)
    cpio.file("etc/group", b"root:x:0:\n", 0o644)
    cpio.link("bin/sh", "busybox")
    for path in sorted(files):
        cpio.file(path, files[path])
    return cpio.done()


# ---- All together ----


def taken(package, pattern, place=""):
    """The files of a package with such a path: place in the file system, content."""
    path = None
    for path, content in members(package, re.compile(pattern)):
        yield re.fullmatch(pattern, path).expand(place), content
    if path is None:
        raise Missing(f"{package} has no {pattern}")


def make(apt, folder):
    where = folder / "packages"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    kernels = [name for name in apt.depends(KERNEL) if name.startswith("linux-image-")]
    if not kernels:
        raise Missing(f"{KERNEL} depends on no kernel")
    fetched = apt.download([kernels[0], *PACKAGES], where)
    package = {path.name.partition("_")[0]: path for path in fetched}
    with contextlib.closing(taken(package[kernels[0]], r"boot/vmlinuz-.*")) as found:
        _, vmlinuz = next(found)
    files = {}
    for name, pattern, place in FILES:
        files |= taken(package[name], pattern, place)
    libraries = fetch_libraries(apt, list(files.values()), where)
    for name in libraries:
        files[f"lib64/{name}" if name == LOADER else f"{WHERE}/{name}"] = libraries[name]
    (folder / "vmlinuz").write_bytes(vmlinuz)
    (folder / "vmlinux").write_bytes(unpack_kernel(vmlinuz))
    (folder / "base.cpio").write_bytes(base_system(files))
    names = sorted(path.name for path in where.glob("*.deb"))
    return "".join(name.removesuffix(".deb").replace("%3a", ":") + "\n" for name in names)


def complete(stamp):
    """Whether all is there, and made of all the packages that are asked for today."""
    made = {line.partition("_")[0] for line in stamp.read_text("utf-8").splitlines()} if stamp.exists() else set()
    return made.issuperset(PACKAGES)


def prepare(folder, say):
    """Sees that kernel and file system are in the folder; say(text) is told before it takes time."""
    folder = pathlib.Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / "made-of"
        if complete(stamp):
            return
        stamp.unlink(missing_ok=True)
        apt = Apt(folder)
        say(f"fetching Debian's packages {', '.join([KERNEL, *PACKAGES])}, some 110 MB; this is done once")
        try:
            text = make(apt, folder)
        except Missing as why:
            say(f"the lists of packages here do not serve ({str(why).splitlines()[-1]}): fetching them")
            apt.own_lists()
            text = make(apt, folder)
        stamp.write_text(text, encoding="utf-8")
