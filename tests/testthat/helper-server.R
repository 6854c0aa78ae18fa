# A server of Python's standard library; `handler` is the body of do_GET(). Gives its address.
serve <- function(handler, folder, env = parent.frame()) {
  python <- Sys.which("python3")
  skip_if(!nzchar(python), "no python3")
  said <- tempfile()
  script <- tempfile(fileext = ".py")
  writeLines(c(
    "import http.server, os, sys", "os.chdir(sys.argv[1])", "seen = {}",
    "class Handler(http.server.SimpleHTTPRequestHandler):", "  def do_GET(self):",
    "    asked = self.command, self.path", "    count = seen[asked] = seen.get(asked, 0) + 1",
    paste0("    ", handler), "    super().do_GET()", "  do_PUT = do_DELETE = do_GET",
    "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)",
    "open(sys.argv[2], 'w').write(f'{os.getpid()} {s.server_port}\\n')", "s.serve_forever()"
  ), script)
  system2(python, shQuote(c(script, folder, said)), wait = FALSE, stdout = FALSE, stderr = FALSE)
  for (k in 1:100) {
    answer <- if (file.exists(said)) scan(said, quiet = TRUE)
    if (length(answer) == 2L) break
    Sys.sleep(0.1)
  }
  withr::defer(tools::pskill(answer[1L]), env)
  sprintf("http://127.0.0.1:%d", answer[2L])
}
