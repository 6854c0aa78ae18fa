"""The servers of tests/zarr/buckets.R: moto's S3, which checks signatures and permissions, and one
before it that drops, delays, cuts or refuses requests; then zarr-python on the same bucket."""

import http.client
import http.server
import json
import os
import sys
import threading
import time

os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "7"


def policy(*actions):
    allowed = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [allowed]})


def start():
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    port = server.get_host_and_port()[1]
    how = dict(endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1",
               aws_access_key_id="any", aws_secret_access_key="any")
    boto3.client("s3", **how).create_bucket(Bucket="data")
    iam = boto3.client("iam", **how)
    keys = []
    for name, actions in [("writer", ["s3:*"]), ("reader", ["s3:GetObject", "s3:ListBucket"])]:
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=policy(*actions))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        keys += [key["AccessKeyId"], key["SecretAccessKey"]]
    return port, keys


class Faulty(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = {}
    count = 0

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = self.command, self.path, self.headers.get("Range")
        times = Faulty.seen[asked] = Faulty.seen.get(asked, 0) + 1
        Faulty.count += 1
        # One of five faults for every second request, and no more than two in turn.
        fault = Faulty.count // 2 % 5 if Faulty.count % 2 == 0 and times % 3 else None
        self.close_connection = True
        if fault == 0:
            return
        if fault == 1:
            return self.send_error(503)
        if fault == 2:
            time.sleep(0.3)
        there = http.client.HTTPConnection("127.0.0.1", self.server.behind)
        headers = {k: v for k, v in self.headers.items() if k != "Connection"}
        there.request(self.command, self.path, body, headers)
        got = there.getresponse()
        text = got.read()
        if fault == 3:  # done, but nobody hears of it
            return
        self.send_response(got.status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text[: len(text) // 2] if fault == 4 and text else text)

    do_PUT = do_DELETE = do_GET

    def log_message(self, *_):
        pass


def serve(said):
    port, keys = start()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    server.behind = port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(said + ".part", "w") as file:
        file.write("\n".join(map(str, [os.getpid(), port, server.server_port, *keys])) + "\n")
    os.rename(said + ".part", said)
    threading.Event().wait()


def store(where):
    from obstore.store import S3Store
    from zarr.storage import ObjectStore

    where = S3Store("data", prefix=where, endpoint=os.environ["AWS_ENDPOINT_URL"],
                    client_options={"allow_http": True})
    return ObjectStore(where)


def check(names):
    import numpy as np
    import zarr

    want = np.arange(1, 36, dtype="int32").reshape(5, 7).T
    for name in names:
        group = zarr.open_group(store(name), mode="r")
        assert (group["x"][...] == want).all(), name
    made = zarr.create_group(store("theirs"), overwrite=True)
    made.create_array("x", data=want, chunks=(3, 2), shards=(6, 4))
    zarr.consolidate_metadata(store("theirs"))


serve(sys.argv[2]) if sys.argv[1] == "serve" else check(sys.argv[2:])
