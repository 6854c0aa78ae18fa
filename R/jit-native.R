# How compiled code is made: with the compiler that R builds packages with, as configure found it,
# and the headers of joist's own kernels, which are installed beside it.

native_setup <- function() {
  own <- own_native()
  native_into(own$folder, own$script)
}

own_native <- function() {
  folder <- native_folder()
  script <- native_script(!is.null(folder))
  if (is.null(folder)) folder <- file.path(tempdir(), "joist-native")
  list(folder = normalizePath(folder, mustWork = FALSE), script = script)
}

native_into <- function(folder, script) {
  why <- NULL
  if (is.null(script)) {
    why <- "joist was installed without a compiler for programs"
  } else if (!dir.exists(folder) && !dir.create(folder, FALSE, TRUE, mode = "0700")) {
    script <- NULL
    why <- paste("the folder", folder, "cannot be created")
  }
  .Call(joist_r_native_setup, script, folder, why, native_policy())
}

# Where this session's compiled code is, for processes that run the same programs, with what says
# whether they have the same joist.
native_shared <- function() c(own_native(), list(session = tempdir(), headers = native_headers()))

# Takes compiled code from the session that sent `shared`, and leaves it there, if it is one of this
# machine.
native_share <- function(shared) {
  there <- !is.null(shared$script) && file.access(shared$folder, 2L) == 0L &&
    shared$session != tempdir() && identical(shared$headers, native_headers())
  if (there && native_figures()$compiling == 0) native_into(shared$folder, shared$script)
}

native_folder <- function() {
  folder <- Sys.getenv("JOIST_NATIVE_CACHE")
  if (nzchar(folder)) path.expand(folder)
}

# Packages must not leave processes running while they are checked, so there the compiler runs only
# if asked for. R CMD check sets the variable for examples, tests and vignettes.
native_policy <- function() {
  default <- if (nzchar(Sys.getenv("_R_CHECK_PACKAGE_NAME_"))) "never" else "auto"
  policy <- Sys.getenv("JOIST_NATIVE", default)
  if (policy %of% c("auto", "never", "wait")) policy else default
}

# A script of the shell: the source is $1, the object $2, $3 are flags of the instruction set, and
# $4 is not empty for a wide group.
# The limit is one of processor time, in seconds, for a compiler that this session cannot stop.
# Objects that are kept are those of one script, so it names the contents of the headers.
native_script <- function(kept) {
  headers <- system.file("native", package = "joist")
  compiler <- file.path(headers, "compiler")
  if (!file.exists(compiler)) {
    return(NULL)
  }
  paste0(
    if (kept) paste0(": ", native_headers(), "; "),
    "ulimit -t 60; exec </dev/null >\"$2.log\" 2>&1; ", readLines(compiler, 1L), " $3 -I",
    shQuote(headers), " -o \"$2.$$.part\" \"$1\" -lm && mv -f \"$2.$$.part\" \"$2\""
  )
}

native_headers <- function() {
  headers <- system.file("native", package = "joist")
  contents <- tools::md5sum(list.files(headers, full.names = TRUE, recursive = TRUE))
  paste(substr(contents, 1L, 8L), collapse = "")
}
