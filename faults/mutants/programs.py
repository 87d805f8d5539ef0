"""Programs: the sound one, built in a copy of the tree, and those that differ from it in a few files."""

import collections
import functools
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"  # a copy, so that nothing changes while mutants are made and built
WATCHDOG = 1200  # seconds, of any one command
PROCESSOR = 100  # seconds of processor time, of any one process: a sound one takes ten

Outcome = collections.namedtuple("Outcome", "column clause stage scenario why")
NOTHING = Outcome(None, None, None, None, None)


def run(command, folder=None, seconds=WATCHDOG, processor=None):
    """Exit status and output. None: it had to be stopped. A limit of processor time stops what loops and
    spares what waits for a busy machine."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))

    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=str(WORK.parent))
    process = subprocess.Popen([str(c) for c in command], cwd=folder, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                               start_new_session=True, preexec_fn=limit if processor else None)
    try:
        output = process.communicate(timeout=seconds)[0]
        looped = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        return ("", None) if looped else (output, process.returncode)
    except subprocess.TimeoutExpired:
        return "", None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def fail(text):
    sys.exit("./test: " + text)


def snapshot():
    """Makes the copy. What is the same already keeps its time, and is not built anew."""
    listed, _ = run(["git", "ls-files", "-co", "--exclude-standard"], ROOT)
    wanted = {path for path in listed.splitlines() if (ROOT / path).is_file()}
    for path in [p for p in TREE.rglob("*") if p.is_file() and str(p.relative_to(TREE)) not in wanted]:
        path.unlink()
    for path in wanted:
        source, copy = ROOT / path, TREE / path
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


class Build:
    """A build of the sound program, and programs that differ from it in a few files: those that need
    them are compiled and linked anew beside it."""

    flags = ()  # of what is compiled anew, after those of the build

    def __init__(self, folder, *options, tree=TREE):
        self.folder, self.assay, self.tree = folder, folder / "cli" / "assay", tree
        run(["cmake", "-G", "Ninja", "-S", tree, "-B", folder, *options])
        output, status = run(["ninja", "-C", folder, "assay"], seconds=3600)
        if status != 0:
            fail("the sound program does not build:\n" + output[-2000:])
        self.read_commands()

    def read_commands(self, targets="/CMakeFiles/assay"):  # not what a test compiles for itself
        self.commands = {}
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            if targets in entry["command"]:
                self.commands[entry["file"]] = entry["command"]

    def dependents(self, path):
        """The sources of what executes runs that are compiled with a file. Of a list of primitives all
        but one see names only."""
        if path.endswith(".c"):
            return [path]
        if path.endswith("_primitives.def"):
            return ["model/primitive.c"]
        found, source = [], None
        for line in run(["ninja", "-C", self.folder, "-t", "deps"])[0].splitlines():
            # ccache may have made paths relative to the build
            needed = os.path.normpath(os.path.join(self.folder, line.strip()))
            if not line.startswith(" "):
                source = None
            elif source is None and needed.startswith("%s/" % self.tree):
                source = needed[len(str(self.tree)) + 1:]
            if source is not None and needed.endswith("/" + path) and source not in found:
                found.append(source)
        layers = r"model/oracle/" if path.startswith("model/oracle/") else \
            r"(model|faults|sim)/(?!tests|bench|oracle)"
        return [s for s in found if re.match(layers, s)]

    def compile(self, source, overlay):
        """The object, with what is in `overlay` instead of the tree's; None: it does not compile."""
        mutated = overlay / source if (overlay / source).exists() else self.tree / source
        made = overlay / (source.replace("/", "-") + ".o")
        words = shlex.split(self.commands[str(self.tree / source)])
        words[words.index("-o") + 1:] = [made, "-c", mutated, "-g0", *self.flags]
        words[1:1] = ["-I%s" % overlay, "-ffile-prefix-map=%s/=%s/" % (overlay, self.tree)]
        return made if run([w for w in words if w != "-Werror"], self.folder)[1] == 0 else None

    def link(self, target, objects, program):
        """Objects stand before the libraries, so that the sound ones are not taken from there."""
        command = run(["ninja", "-C", self.folder, "-t", "commands", target])[0].splitlines()[-1]
        words, made = shlex.split(command.split(" && ")[1]), {}
        for made_of in objects:  # a suite may do without the upper layers
            layer = made_of.name.partition("-")[0]
            library = "oracle" if made_of.name.startswith("model-oracle-") else layer
            if "%s/libassay_%s.a" % (layer, library) in words:
                made[made_of.name] = made_of
        for at, word in enumerate(words):
            own = re.sub(r"/CMakeFiles/[^/]*\.dir/", "/", word).replace("/", "-")
            words[at] = made.pop(own, word)
        words[words.index("-o") + 1:words.index("-o") + 2] = [program, *made.values()]
        return run(words, self.folder)[1] == 0

    def passes(self, test):
        """Whether the sound program's suite does, which is asked anew: others may be in its way."""
        found = list(self.folder.glob("*/" + test))
        return len(found) == 1 and run([found[0], "-j1"])[1] == 0


class Release(Build):
    """The build of ./test, of the tree itself."""

    flags = ("-O1", "-fno-lto")  # a breakage is one however it is optimised, and compiled sooner

    def __init__(self):
        self.folder, self.tree = ROOT / "build" / "release", ROOT
        self.assay = self.folder / "cli" / "assay"
        output, status = run(["ninja", "-C", self.folder], seconds=3600)
        if status != 0:
            fail("build/release does not build; ./test makes it:\n" + output[-2000:])
        self.read_commands("/CMakeFiles/test_")
        tests = self.commands
        self.read_commands()
        self.commands = tests | self.commands


def code(thing):
    """A hash of an object or a program, without what only a debugger reads."""
    bare = thing.with_suffix(".bare")
    run(["objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id", thing, bare])
    return hashlib.sha256(bare.read_bytes()).hexdigest()[:16]


class Spoilt:
    """A mutant that was built: its objects, and the program that has them, linked when it is asked for."""

    def __init__(self, sound, mutant, overlay, objects):
        self.sound, self.mutant, self.overlay, self.objects = sound, mutant, overlay, objects
        self.file = mutant.file

    @functools.cached_property
    def assay(self):
        program = self.overlay / "assay"
        if not self.sound.link("assay", self.objects, program):
            raise NoBuild
        return program


class NoBuild(Exception):
    pass


def failing_suite(sound, spoilt, names):
    """The first of these suites that fails with the mutant, and passes without it."""
    for name in names:
        test = spoilt.overlay / ("test_" + name)
        if not sound.link(test.name, spoilt.objects, test):
            continue  # it has nothing of what was spoilt
        # the first failure will do, and a case that loops is one
        suite = [test, "-j1", "--fail-fast"]
        if run(suite, processor=PROCESSOR // 4)[1] != 0 and sound.passes(test.name):
            return NOTHING._replace(column="suites", stage=test.name)
    return None
