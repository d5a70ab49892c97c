"""Sets the project up in `.venv`: `python tools/bootstrap.py runtime|dev [--python PYTHON]`.

Any Python may run this file, also 2.7 and 3.6: it must still be able to say in one line that it is too old, or to
find a newer one and hand over to it. So it uses the standard library and old syntax only, and is no part of the
packages. What is installed comes from the lock files, each file checked against its hash; the project
itself is put on the path by one `.pth` line: nothing is built, and an edit needs no new installation.
"""

from __future__ import print_function

import hashlib
import io
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
INSIDE = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "zclaw-setup")
LOCKS = {"runtime": "requirements.lock", "dev": "requirements-dev.lock"}
NEEDS = "zclaw needs Python 3.11, 3.12, 3.13 or 3.14"
OLDEST, NEWEST = (3, 11), (3, 14)
NAMES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3", "python")

# Runs in the candidate interpreter and prints one word for each fact that `refusal` judges.
PROBE = """
import os, platform, sys, sysconfig
print("%d.%d" % sys.version_info[:2])
print("windows" if os.name == "nt" or sys.platform in ("cygwin", "msys") else sys.platform)
abi = "%s %s" % (sysconfig.get_config_var("HOST_GNU_TYPE"), sysconfig.get_config_var("SOABI"))
print("musl" if "musl" in abi else "-".join(platform.libc_ver()))
try:
    import ensurepip, venv
    print("venv")
except ImportError:
    print("no-venv")
print(getattr(sys, "_base_executable", sys.executable))
"""


def probe(python):
    """Facts about an interpreter: (version, system, libc, has venv, its path); None when it does not run."""
    try:
        with open(os.devnull, "rb") as nothing, open(os.devnull, "wb") as nowhere:
            answer = subprocess.Popen(
                [python, "-c", PROBE], stdin=nothing, stdout=subprocess.PIPE, stderr=nowhere
            ).communicate()[0]
        words = answer if str is bytes else answer.decode("utf-8")
        version, system, libc, venv, path = words.splitlines()
    except (OSError, ValueError):
        return None
    return tuple(int(n) for n in version.split(".")), system, libc, venv == "venv", path


def refusal(facts):
    """The one line that says what to do when this interpreter cannot carry zclaw; None when it can."""
    version, system, libc, has_venv, path = facts
    name = "Python %d.%d" % version
    if system == "windows":
        return "zclaw does not run on Windows itself: install WSL 2 (`wsl --install`) and use that."
    if libc == "musl":
        return (
            "This system uses musl (Alpine); the bundled store needs glibc: "
            "use `docker compose up`, or a Debian, Ubuntu or Fedora machine."
        )
    if not OLDEST <= version <= NEWEST:
        return "%s and %s is %s: install one, or name it: `make chat PYTHON=/path/to/python3.12`." % (
            NEEDS,
            path,
            name,
        )
    if libc.startswith("glibc-") and tuple(int(n) for n in libc[6:].split(".")[:2]) < (2, 28):
        return "The bundled store needs glibc 2.28 or newer, this system has %s: use a newer system." % libc[6:]
    if not has_venv:
        return "%s here cannot make virtual environments: run `apt install python%d.%d-venv` and try again." % (
            name,
            version[0],
            version[1],
        )
    return None


def choose(wanted):
    """(path of the interpreter to use, None), or (None, the line that says why there is none)."""
    if wanted:
        facts = probe(wanted)
        if facts is None:
            return None, "PYTHON=%s does not run: name a Python 3.11 to 3.14." % wanted
        return (None, refusal(facts)) if refusal(facts) else (facts[4], None)
    why = None
    for name in list(NAMES) + [sys.executable]:
        facts = probe(name)
        if facts is None:
            continue
        found = refusal(facts)
        if found is None:
            return facts[4], None
        # The reason of a suitable version counts more than "too old" of another.
        if why is None or OLDEST <= facts[0] <= NEWEST:
            why = found
    return None, why or NEEDS + ": install one of them."


def fingerprint(kind):
    """What an installation of this kind was made from; the folder counts too: a `.venv` cannot be moved."""
    with open(os.path.join(ROOT, LOCKS[kind]), "rb") as lock, open(os.path.abspath(__file__), "rb") as own:
        digest = hashlib.sha256(lock.read() + own.read()).hexdigest()
    return "%s %s %s" % (kind, digest, ROOT)


def is_ready(kind):
    """Whether `.venv` holds this kind already; `dev` holds everything that `runtime` does."""
    try:
        with io.open(STAMP, encoding="utf-8") as stamp:
            made_from = stamp.read()
    except (IOError, OSError):
        return False
    enough = [fingerprint(other) for other in LOCKS if other in (kind, "dev")]
    return made_from in enough and probe(INSIDE) is not None


def set_up(kind, python):
    """Make `.venv` unless a usable one is there, and fill it; the line that says what failed, or None."""
    log_path = os.path.join(ROOT, ".setup.log")
    if os.path.exists(STAMP):
        os.remove(STAMP)  # Interrupted from here on means: not ready.
    with open(log_path, "wb") as log:
        if not (_is_suitable(INSIDE) and _run([INSIDE, "-m", "pip", "--version"], log)):
            if not _run([python, "-m", "venv", "--clear", VENV], log):
                return "Making %s failed: %s" % (VENV, _last_words(log_path))
        install = [INSIDE, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        if not _run(install + ["--require-hashes", "-r", os.path.join(ROOT, LOCKS[kind])], log):
            return "Installing the packages failed: %s" % _last_words(log_path)
    where = [INSIDE, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.check_output(where).decode("utf-8").strip()
    with io.open(os.path.join(site, "zclaw.pth"), "w", encoding="utf-8") as path:
        path.write(ROOT + "\n")
    _write_command(os.path.join(VENV, "bin", "zclaw"))
    with io.open(STAMP, "w", encoding="utf-8") as done:
        done.write(fingerprint(kind))
    os.remove(log_path)
    return None


def _is_suitable(python):
    facts = probe(python)
    return facts is not None and refusal(facts) is None


def _run(command, log):
    return subprocess.call(command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT) == 0


def _write_command(path):
    # A first line `#!/path` breaks on blanks and on long paths: sh reads this one, then Python reads it again.
    with io.open(path, "w", encoding="utf-8") as command:
        command.write("#!/bin/sh\n'''exec' \"%s\" \"$0\" \"$@\"\n' '''\n" % INSIDE)
        command.write("import sys\n\nfrom zclaw.cli import main\n\nsys.exit(main())\n")
    os.chmod(path, 0o755)


def _last_words(log_path):
    with io.open(log_path, encoding="utf-8", errors="replace") as log:
        lines = [line.strip() for line in log if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    said = (errors or lines or ["no reason given"])[-1]
    return "%s (all of it is in %s)" % (said, log_path)


def main(arguments):
    """Exit code for the command line: 0 set up, 2 cannot be set up and one line says why."""
    kind = arguments[0] if arguments else ""
    if kind not in LOCKS:
        print("usage: bootstrap.py runtime|dev [--python PYTHON]", file=sys.stderr)
        return 2
    wanted = arguments[2] if arguments[1:2] == ["--python"] and len(arguments) > 2 else ""
    if sys.version_info >= OLDEST and is_ready(kind):
        return 0
    python, why = choose(wanted)
    if why is None and sys.version_info < OLDEST:
        os.execv(python, [python, os.path.abspath(__file__)] + arguments)
    if why is None:
        print("Setting up .venv, once; it takes about a minute.", file=sys.stderr)
        why = set_up(kind, python)
    if why is not None:
        print(why, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
