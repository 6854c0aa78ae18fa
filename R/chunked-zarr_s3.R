# Stores in buckets of S3 and of servers that speak its protocol.
# Source: AWS, "Signature Version 4 for API requests", Amazon S3 API Reference.

s3_store <- function(path) {
  need_package("digest")
  parts <- strsplit(sub("/+$", "", sub("^s3://", "", path)), "/", fixed = TRUE)[[1L]]
  if (length(parts) == 0L || !nzchar(parts[1L])) {
    stop_joist("joist_value_error", "an address of S3 is \"s3://bucket/folder\"")
  }
  root <- s3_root(parts[1L])
  folder <- paste0(parts[-1L], "/", recycle0 = TRUE, collapse = "")
  address_of <- function(key) paste0(root, s3_encoded(key, "/"))
  request <- function(key, query = "", headers = NULL, method = "GET", body = raw()) {
    at <- paste0(address_of(key), if (nzchar(query)) "?", query)
    place <- paste0(if (nzchar(key)) paste0("\"", key, "\" of "), "the bucket \"", parts[1L], "\"")
    web_bytes(at, function() s3_headers(at, headers, method, body), method, body, place)
  }
  ahead <- asked_ahead(function(key, range) {
    at <- address_of(paste0(folder, key))
    list(address = at, headers = s3_headers(at, range))
  })
  store <- nv_zarr_store(
    get = function(key) ahead$answer(key, request(paste0(folder, key))),
    put = function(key, bytes) request(paste0(folder, key), method = "PUT", body = bytes),
    delete = function(key) request(paste0(folder, key), method = "DELETE"),
    exists = function(key) !is.null(request(paste0(folder, key), headers = range_header(0, 1))),
    list = function(prefix) s3_names(function(query) request("", query), paste0(folder, prefix)),
    range = function(key, from, size) {
      alone <- function() request(paste0(folder, key), headers = range_header(from, size))
      ahead$answer(key, ranged(alone(), from, size), from, size)
    },
    label = path
  )
  store$ahead <- ahead$ask
  store$id <- path
  store
}

# A server of one's own has buckets as folders.
s3_root <- function(bucket) {
  endpoint <- Sys.getenv("AWS_ENDPOINT_URL_S3", Sys.getenv("AWS_ENDPOINT_URL"))
  if (nzchar(endpoint)) {
    return(paste0(sub("/+$", "", endpoint), "/", bucket, "/"))
  }
  paste0("https://", bucket, ".s3.", s3_region(), ".amazonaws.com/")
}

s3_region <- function() {
  Sys.getenv("AWS_REGION", Sys.getenv("AWS_DEFAULT_REGION", "us-east-1"))
}

s3_encoded <- function(text, keep = "") {
  parts <- if (nzchar(keep)) strsplit(paste0(text, keep), keep, fixed = TRUE)[[1L]] else text
  paste(vapply(enc2utf8(parts), utils::URLencode, "", reserved = TRUE), collapse = keep)
}

# Requests are signed if keys are set; without keys only public buckets can be read.
s3_headers <- function(address, headers = NULL, method = "GET", body = raw(), now = Sys.time(),
                       region = s3_region()) {
  id <- Sys.getenv("AWS_ACCESS_KEY_ID")
  if (!nzchar(id)) {
    return(headers)
  }
  sha <- function(text) digest::digest(text, "sha256", serialize = FALSE)
  sign <- function(key, text, raw = TRUE) digest::hmac(key, text, "sha256", raw = raw)
  time <- format(now, "%Y%m%dT%H%M%SZ", tz = "UTC")
  day <- substr(time, 1L, 8L)
  parts <- regmatches(address, regexec("^https?://([^/]*)(/[^?]*)[?]?(.*)$", address))[[1L]]
  token <- Sys.getenv("AWS_SESSION_TOKEN")
  headers <- c(headers, `x-amz-content-sha256` = sha(body), `x-amz-date` = time,
    if (nzchar(token)) c(`x-amz-security-token` = token))
  all <- c(host = parts[2L], headers)
  names(all) <- tolower(names(all))
  all <- all[order(names(all), method = "radix")]
  names <- paste(names(all), collapse = ";")
  request <- paste(
    c(method, parts[3:4], paste0(names(all), ":", all), "", names, sha(body)),
    collapse = "\n"
  )
  scope <- paste(day, region, "s3", "aws4_request", sep = "/")
  text <- paste("AWS4-HMAC-SHA256", time, scope, sha(request), sep = "\n")
  key <- charToRaw(paste0("AWS4", Sys.getenv("AWS_SECRET_ACCESS_KEY")))
  for (part in c(day, region, "s3", "aws4_request")) key <- sign(key, part)
  c(headers, Authorization = paste0(
    "AWS4-HMAC-SHA256 Credential=", id, "/", scope, ",SignedHeaders=", names, ",Signature=",
    sign(key, text, FALSE)
  ))
}

# The names behind a prefix, up to the next slash, a page of them at a time.
s3_names <- function(request, prefix) {
  found <- character()
  token <- NULL
  repeat {
    bytes <- request(paste0(
      if (!is.null(token)) paste0("continuation-token=", s3_encoded(token), "&"),
      "delimiter=%2F&list-type=2&prefix=", s3_encoded(prefix)
    ))
    text <- if (is.null(bytes)) "" else rawToChar(bytes)
    Encoding(text) <- "UTF-8"
    between <- function(tag) {
      all <- regmatches(text, gregexpr(sprintf("<%s>[^<]*</%s>", tag, tag), text))[[1L]]
      all <- gsub("<[^>]*>", "", all)
      for (name in names(xml_names)) all <- gsub(name, xml_names[[name]], all, fixed = TRUE)
      all
    }
    found <- c(found, between("Key"), between("Prefix"))
    token <- between("NextContinuationToken")
    if (length(token) == 0L) break
  }
  found <- substring(found[startsWith(found, prefix)], nchar(prefix) + 1L)
  unique(sub("/.*$", "", found[nzchar(found)]))
}

xml_names <- c(
  "&lt;" = "<", "&gt;" = ">", "&quot;" = "\"", "&#34;" = "\"", "&apos;" = "'", "&amp;" = "&"
)
