"""An attacker in the telemetry proxy's place: the same pod, the same user, no capabilities.

`doors`: tries to read and to trace the manager and the telemetry proxy.
`signals HEALTH_PORT USUAL_PORTS`: sends the manager each signal that it has a handler for. The kernel answers the others, so they run
no code of the manager. Reports for each whether the manager ends, and which other sockets the pod listens on.
"""
import ctypes, errno, json, os, signal, subprocess, sys, time, urllib.request

MANAGER, PROXY = '/app/main.js', '--config='
ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
PTRACE_SEIZE = 0x4206
WATCH_SECONDS = 0.5
libc = ctypes.CDLL(None, use_errno=True)


def text(path):
    try:
        return open(path).read()
    except OSError:
        return ''


def is_run(pid, word):
    # A script on a command line may have the word in its text.
    return any(argument.startswith(word) for argument in text(f'/proc/{pid}/cmdline').split('\0'))


def pid_of(word):
    own = {os.getpid(), os.getppid()}
    pids = (int(name) for name in os.listdir('/proc') if name.isdigit())
    return next((pid for pid in pids if pid not in own and is_run(pid, word)), None)


def door(attempt):
    """Returns the result of an attempt as text, or the name of its error."""
    try:
        return str(attempt())
    except OSError as error:
        return errno.errorcode[error.errno]


def trace(pid):
    arguments = [ctypes.c_long(value) for value in (PTRACE_SEIZE, pid, 0, 0)]
    if libc.ptrace(*arguments) != 0:
        raise OSError(ctypes.get_errno(), 'ptrace')
    return 'traced'


def files(pid):
    proc = f'/proc/{pid}'
    return {
        'environ': door(lambda: len(open(f'{proc}/environ').read())),
        'root': door(lambda: os.listdir(f'{proc}/root')),
        'token': door(lambda: open(f'{proc}/root{ACCOUNT}/token').read()),
        'cwd': door(lambda: os.listdir(f'{proc}/cwd/')),
        'fd': door(lambda: os.listdir(f'{proc}/fd')),
        'maps': door(lambda: len(open(f'{proc}/maps').read())),
        'mem': door(lambda: open(f'{proc}/mem', 'r+b')),
    }


def listening():
    """The TCP ports and Unix sockets on which the pod listens."""
    rows = [line.split() for family in ('tcp', 'tcp6') for line in text(f'/proc/net/{family}').splitlines()[1:]]
    ports = {int(row[1].rsplit(':', 1)[1], 16) for row in rows if row[3] == '0A'}
    accepting = (row for row in map(str.split, text('/proc/net/unix').splitlines()[1:]) if int(row[3], 16) & 0x10000)
    return ports | {row[-1] for row in accepting}


def is_ready(port):
    try:
        return urllib.request.urlopen(f'http://127.0.0.1:{port}/readyz', timeout=1).status == 200
    except OSError:
        return False


def wait_for(condition):
    while not (result := condition()):
        time.sleep(0.05)
    return result


def handled_by(pid):
    """The signals for which a process has a handler."""
    fields = dict(line.split(':', 1) for line in text(f'/proc/{pid}/status').splitlines())
    return {number for number in range(1, 65) if int(fields['SigCgt'], 16) >> (number - 1) & 1}


def send(number, port, usual):
    pid = wait_for(lambda: is_ready(port) and pid_of(MANAGER))
    os.kill(pid, number)
    opened, until = set(), time.monotonic() + WATCH_SECONDS
    while time.monotonic() < until:
        opened |= listening() - usual
        time.sleep(0.02)
    if pid_of(MANAGER) == pid:
        os.kill(pid, signal.SIGCONT)
    outcome = wait_for(lambda: 'ends' if pid_of(MANAGER) != pid else is_ready(port) and 'runs')
    return {'signal': number, 'outcome': outcome, 'opened': sorted(map(str, opened))}


if sys.argv[1] == 'doors':
    child = subprocess.Popen(['/usr/bin/python3', '-c', 'import time; time.sleep(1e6)'])
    manager, proxy = pid_of(MANAGER), pid_of(PROXY)
    # Not the proxy: a traced process stops at its next signal.
    traced = {'manager': door(lambda: trace(manager)), 'child': door(lambda: trace(child.pid))}
    sockets = sorted(map(str, listening()))
    found = {'user': os.getuid(), 'listening': sockets, 'traced': traced}
    print(json.dumps({**found, 'manager': files(manager), 'proxy': files(proxy)}))
else:
    health, usual = int(sys.argv[2]), set(map(int, sys.argv[3].split(',')))
    handled = handled_by(wait_for(lambda: is_ready(health) and pid_of(MANAGER)))
    # Node.js handles SIGUSR1 unless a flag disables it. SIGKILL shows that signals arrive.
    numbers = sorted(handled | {signal.SIGUSR1, signal.SIGKILL})
    print(json.dumps([send(number, health, usual) for number in numbers]))
time.sleep(1e6)
