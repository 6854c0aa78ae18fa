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

test_that("buckets are read and listed", {
  skip_if_not_installed("digest")
  folder <- tempfile()
  bucket <- file.path(folder, "data/a b")
  nv_store(nv_tensor(matrix(1:6, 2)), bucket, node = "x/y")
  nv_store(nv_tensor(1:3), bucket, node = "z&1")
  # Lists, two names on a page, of the files of a folder.
  address <- serve(c(
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
  ), folder)
  withr::local_envvar(
    AWS_ENDPOINT_URL = address, AWS_ACCESS_KEY_ID = "id", AWS_SECRET_ACCESS_KEY = "secret",
    AWS_ENDPOINT_URL_S3 = NA
  )
  all <- nv_zarr("s3://data/a b")
  expect_identical(names(all), c("x", "z&1"))
  expect_identical(as_array(all$x$y[2, ]), c(2L, 4L, 6L))
  expect_identical(as_array(nv_compute(nv_zarr("s3://data/a b", "z&1"))), 1:3)
  expect_error(all$x$y[1, 1] <- 0L, "written", class = "joist_value_error")
  expect_error(nv_zarr("s3://data/none"), "no Zarr", class = "joist_value_error")
  expect_error(nv_zarr("s3://"), "bucket", class = "joist_value_error")
  withr::local_envvar(AWS_ACCESS_KEY_ID = "")
  expect_error(nv_zarr("s3://data/a b"), "403", class = "joist_value_error")
})
