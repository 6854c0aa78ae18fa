# Stores at addresses: servers that fail for a while, and S3.

stored <- function() {
  folder <- tempfile()
  x <- nv_zarr_create(folder, "f32", c(5, 3), c(2, 3), codecs = "crc32c", shards = c(4, 3))
  x[] <- matrix(1:15, 5)
  folder
}

test_that("a server that is busy or drops connections is asked again", {
  folder <- stored()
  want <- nv_zarr(folder)[]
  for (fault in c(
    "self.send_error(503)", "self.send_error(500)", "self.connection.close()",
    paste0(
      "self.send_response(200); self.send_header('Content-Length', '900'); self.end_headers(); ",
      "self.wfile.write(b'{')"
    )
  )) {
    address <- serve(c("if count < 3:", paste0("  ", fault), "  return"), folder)
    expect_identical(nv_zarr(address)[], want)
  }
})

test_that("a server that goes on failing, or refuses, is an error", {
  folder <- stored()
  address <- serve(c("self.send_error(503)", "return"), folder)
  expect_error(nv_zarr(address), "cannot read.*503", class = "joist_value_error")
  address <- serve(c("self.send_error(403 if count == 1 else 200)", "return"), folder)
  expect_error(nv_zarr(address), "cannot read.*403", class = "joist_value_error")
  # A missing key leaves no connection open.
  address <- serve("pass", folder)
  before <- nrow(showConnections(all = TRUE))
  expect_error(nv_zarr(address, "none"), "no Zarr", class = "joist_value_error")
  expect_identical(nrow(showConnections(all = TRUE)), before)
})

test_that("requests are signed as in the example of the S3 API reference", {
  skip_if_not_installed("digest")
  withr::local_envvar(
    AWS_ACCESS_KEY_ID = "AKIAIOSFODNN7EXAMPLE", AWS_SESSION_TOKEN = NA,
    AWS_SECRET_ACCESS_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
  )
  now <- as.POSIXct("2013-05-24", tz = "UTC")
  signature <- function(...) {
    headers <- joist:::s3_headers(..., now = now, region = "us-east-1")
    sub(".*Signature=", "", headers[["Authorization"]])
  }
  host <- "https://examplebucket.s3.amazonaws.com/"
  expect_identical(
    signature(paste0(host, "test.txt"), joist:::range_header(0, 10)),
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
  )
  expect_identical(
    signature(paste0(host, "?max-keys=2&prefix=J")),
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
  )
  withr::local_envvar(AWS_ACCESS_KEY_ID = "")
  expect_null(joist:::s3_headers(host))
})

# Lists, two names on a page, of the files of a folder.
bucket_server <- c(
  "import urllib.parse as u", "path, _, query = self.path.partition('?')",
  "if 'Signature=' not in self.headers.get('Authorization', ''):", "  self.send_error(403)",
  "  return",
  "if query:", "  q = u.parse_qs(query)", "  prefix = q['prefix'][0]",
  "  root = os.path.join('data', prefix)",
  "  all = sorted(os.listdir(root)) if os.path.isdir(root) else []",
  "  first = int(q.get('continuation-token', ['0'])[0])", "  text = ''",
  "  for name in all[first:first + 2]:",
  "    key = (prefix + name).replace('&', '&amp;')",
  "    inside = os.path.isdir(os.path.join(root, name))",
  "    text += f'<Prefix>{key}/</Prefix>' if inside else f'<Key>{key}</Key>'",
  "  token = f'<NextContinuationToken>{first + 2}</NextContinuationToken>'",
  "  if first + 2 < len(all): text += token",
  "  body = f'<ListBucketResult><Prefix>{prefix}</Prefix>{text}</ListBucketResult>'.encode()",
  "  self.send_response(200)", "  self.send_header('Content-Length', str(len(body)))",
  "  self.end_headers()",
  "  self.wfile.write(body)", "  return"
)

test_that("buckets are read and listed", {
  skip_if_not_installed("digest")
  folder <- tempfile()
  bucket <- file.path(folder, "data/a b")
  nv_store(nv_tensor(matrix(1:6, 2)), bucket, node = "x/y")
  nv_store(nv_tensor(1:3), bucket, node = "z&1")
  address <- serve(bucket_server, folder)
  withr::local_envvar(
    AWS_ENDPOINT_URL = address, AWS_ACCESS_KEY_ID = "id", AWS_SECRET_ACCESS_KEY = "secret",
    AWS_ENDPOINT_URL_S3 = NA
  )
  all <- nv_zarr("s3://data/a b")
  expect_identical(names(all), c("x", "z&1"))
  expect_identical(as_array(all$x$y[2, ]), c(2L, 4L, 6L))
  expect_identical(as_array(nv_compute(nv_zarr("s3://data/a b", "z&1"))), 1:3)
  expect_error(nv_zarr("s3://data/none"), "no Zarr", class = "joist_value_error")
  expect_error(nv_zarr("s3://"), "bucket", class = "joist_value_error")
  withr::local_envvar(AWS_ACCESS_KEY_ID = "")
  expect_error(
    nv_zarr("s3://data/a b"), "\"a b/zarr.json\" of the bucket \"data\": permission denied.*403",
    class = "joist_value_error"
  )
})

test_that("buckets are written, in spite of a server that fails for a while", {
  skip_if_not_installed("digest")
  skip_if_not_installed("curl")
  folder <- withr::local_tempdir()
  # Each key fails twice, by an answer or without one; keys of `no` are forbidden.
  address <- serve(c(
    "import hashlib", "import urllib.parse as u", "at = u.unquote(self.path[1:])",
    "if self.command == 'PUT':", "  body = self.rfile.read(int(self.headers['Content-Length']))",
    "  same = hashlib.sha256(body).hexdigest() == self.headers['x-amz-content-sha256']",
    "  if count == 1: return self.send_error(503)",
    "  if count == 2: return self.connection.close()",
    "  if not same: return self.send_error(400)",
    "  if '/no/' in at:",
    "    text = b'<Error><Code>AccessDenied</Code></Error>'", "    self.send_response(403)",
    "    self.send_header('Content-Length', str(len(text)))", "    self.end_headers()",
    "    self.wfile.write(text)", "    return",
    "  os.makedirs(os.path.dirname(at), exist_ok=True)", "  open(at, 'wb').write(body)",
    "if self.command == 'DELETE' and os.path.isfile(at): os.remove(at)",
    "if self.command != 'GET':", "  self.send_response(200)",
    "  self.send_header('Content-Length', '0')", "  self.end_headers()", "  return",
    "if os.path.isdir(at): return self.send_error(404)", # no folders
    bucket_server
  ), folder)
  withr::local_envvar(
    AWS_ENDPOINT_URL = address, AWS_ACCESS_KEY_ID = "id", AWS_SECRET_ACCESS_KEY = "secret",
    AWS_ENDPOINT_URL_S3 = NA
  )
  nv_zarr_create_group("s3://data/some", consolidated = TRUE)
  x <- nv_tensor(matrix(1:12, 4))
  for (shards in list(FALSE, c(4, 2))) {
    y <- nv_store(x, "s3://data/some", "x", chunks = c(2, 2), shards = shards, overwrite = TRUE)
    expect_identical(nv_compute(y), x)
    y[1, ] <- 0L
    # The bucket has the files that a folder would have.
    z <- nv_zarr(file.path(folder, "data/some"), "x")
    expect_identical(as_array(z[1:2, ]), rbind(0L, c(2L, 6L, 10L)))
  }
  expect_length(list.files(file.path(folder, "data/some/x/c"), recursive = TRUE), 2L)
  kept <- suppressWarnings(readLines(file.path(folder, "data/some/zarr.json")))
  expect_match(kept, "\"metadata\":{\"x\":{", fixed = TRUE, all = FALSE)
  expect_error(
    nv_store(x, "s3://data/no/x"),
    "cannot write \"no/x/zarr.json\" of the bucket \"data\": permission denied.*403, AccessDenied",
    class = "joist_value_error"
  )
  expect_false(dir.exists(file.path(folder, "data/no")))
})

test_that("chunks and parts of shards are asked for side by side, and again where that fails", {
  skip_if_not_installed("curl")
  folder <- tempfile()
  values <- matrix(1:96, 12)
  for (shards in list(FALSE, c(6, 4))) {
    node <- if (isFALSE(shards)) "plain" else "sharded"
    x <- nv_zarr_create(folder, "i32", c(12, 8), c(3, 2), node = node, shards = shards)
    x[] <- values
  }
  busy <- c(
    "import time", "seen['now'] = seen.get('now', 0) + 1",
    "seen['most'] = max(seen.get('most', 0), seen['now'])", "time.sleep(0.05)", "seen['now'] -= 1",
    "if self.path == '/most':", "  self.send_response(200)", "  self.end_headers()",
    "  self.wfile.write(b'%d\\n' % seen['most'])", "  return",
    "if count == 1 and self.path.endswith(('c/1/0', 'c/0/1')):", "  self.send_response(503)",
    "  self.end_headers()", "  return"
  )
  parts <- c(
    "asked = self.headers.get('Range')", "if asked:",
    "  low, high = asked[6:].split('-')", "  whole = open('.' + self.path, 'rb').read()",
    "  part = whole[int(low):int(high) + 1] if low else whole[-int(high):]",
    "  self.send_response(206)", "  self.send_header('Content-Length', str(len(part)))",
    "  self.end_headers()", "  self.wfile.write(part)", "  return"
  )
  for (handler in list(busy, c(busy, parts))) {
    address <- serve(handler, folder)
    for (node in c("plain", "sharded")) {
      x <- nv_zarr(address, node)
      expect_identical(as_array(x[]), values)
      expect_identical(as.vector(nv_compute(nv_reduce_sum(x, 1L))), colSums(values))
    }
    expect_gt(as.integer(readLines(paste0(address, "/most"))), 1L)
  }
})
