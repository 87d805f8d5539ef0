"""A TCP port that leads to a unix socket, byte by byte: for drivers that know no unix sockets, the way
without the proxy. usage: tunnel.py SOCKET; prints its port, ends with its standard input."""
import socket, sys, threading


def pour(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(listener):
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(sys.argv[1])
        for pair in ((client, server), (server, client)):
            threading.Thread(target=pour, args=pair, daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
threading.Thread(target=serve, args=(listener,), daemon=True).start()
sys.stdin.read()
