"""Programs: the sound one, built in a copy of the tree, and those that differ from it in a few files."""

import collections
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"  # a copy, so that nothing changes while mutants are made and built
WATCHDOG = 600  # seconds, of any one command: a sound one takes ten

Outcome = collections.namedtuple("Outcome", "column clause stage scenario why")
NOTHING = Outcome(None, None, None, None, None)


def run(command, folder=None, seconds=WATCHDOG):
    """Exit status and output. None: it had to be stopped."""
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=str(WORK.parent))
    process = subprocess.Popen([str(c) for c in command], cwd=folder, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                               start_new_session=True)
    try:
        return process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        return "", None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def fail(text):
    sys.exit("./test --mutants: " + text)


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

    def __init__(self, folder, *options):
        self.folder, self.assay = folder, folder / "cli" / "assay"
        run(["cmake", "-G", "Ninja", "-S", TREE, "-B", folder, *options])
        output, status = run(["ninja", "-C", folder, "assay"], seconds=3600)
        if status != 0:
            fail("the sound program does not build:\n" + output[-2000:])
        self.commands = {}
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            if "/CMakeFiles/assay" in entry["command"]:  # not what a test compiles for itself
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
            if line.startswith("    %s/" % TREE) and source is None:
                source = line.strip()[len(str(TREE)) + 1:]
            if not line.startswith(" "):
                source = None
            elif line.endswith("/" + path) and source not in found:
                found.append(source)
        layers = r"model/oracle/" if path.startswith("model/oracle/") else \
            r"(model|faults|sim)/(?!tests|bench|oracle)"
        return [s for s in found if re.match(layers, s)]

    def compile(self, source, overlay):
        """The object, with what is in `overlay` instead of the tree's; None: it does not compile."""
        mutated = overlay / source if (overlay / source).exists() else TREE / source
        made = overlay / (source.replace("/", "-") + ".o")
        words = shlex.split(self.commands[str(TREE / source)])
        words[words.index("-o") + 1:] = [made, "-c", mutated, "-g0"]
        words[1:1] = ["-I%s" % overlay, "-ffile-prefix-map=%s/=%s/" % (overlay, TREE)]
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
        if run([test, "-j1"])[1] != 0 and sound.passes(test.name):
            return NOTHING._replace(column="suites", stage=test.name)
    return None
