"""The R process in which joist computes: one request of R code at a time, over a socket."""
import atexit
import os
import pathlib
import socket
import struct
import subprocess

HERE = pathlib.Path(__file__).parent.parent
RULES = os.environ.get("JOIST_ARRAY_API_RULES", "array_api_2024")
ERRORS = {
    "joist_promotion_error": TypeError,
    "joist_dtype_error": TypeError,
    "joist_shape_error": ValueError,
    "joist_value_error": ValueError,
}


class RError(RuntimeError):
    """An error that is not joist's own."""


class Process:
    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            self.child = subprocess.Popen(
                ["R", "--vanilla", "--no-echo", "-f", str(HERE / "server.R"),
                 "--args", str(port), RULES],
                env={**os.environ, "JOIST_LIVING_TESTS": str(HERE)}, stdin=subprocess.DEVNULL)
            server.settimeout(60)
            self.connection, _ = server.accept()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.dropped = []
        self.count = 0
        atexit.register(self.stop)

    def stop(self):
        self.connection.close()
        self.child.wait(10)

    def receive(self, size):
        parts = []
        while size > 0:
            part = self.connection.recv(size)
            if not part:
                raise RError("the R process has ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def run(self, code, blob=b""):
        """The text or bytes that R code gives."""
        if self.dropped:
            names, self.dropped = ", ".join(self.dropped), []
            code = f"rm({names}); {code}"
        code = code.encode()
        self.connection.sendall(struct.pack("<ii", len(code), len(blob)) + code + blob)
        status, size = struct.unpack("<Bi", self.receive(5))
        content = self.receive(size)
        if status == 2:
            name, _, message = content.decode().partition("\n")
            raise ERRORS.get(name, RError)(message)
        return content if status == 1 else content.decode()

    def keep(self, code, blob=b""):
        """The name of the tensor that R code gives, its dtype and its shape."""
        self.count += 1
        name = f"t{self.count}"
        dtype, *extents = self.run(f"{name} <- {code}", blob).split(" ")
        return name, dtype, tuple(map(int, extents))


process = Process()
