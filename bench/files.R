# Reading and writing files, for bench/compare.R: bench/files.py has the same for NumPy and the
# safetensors library. Each side reads the files that it wrote itself. They lie in the folder that
# JOIST_BENCH_FILES names, one side's beside the other's, and are read from the system's cache.

file_of <- function(name) file.path(Sys.getenv("JOIST_BENCH_FILES"), paste0("joist-", name))

# The path of a file that `write` has written once.
written <- function(name, write) {
  path <- file_of(name)
  if (!file.exists(path)) write(path)
  path
}

read_npy <- function(a) nv_read_npy(written("a.npy", function(path) nv_write_npy(a, path)))

# The file has the rows side by side, as Python's libraries write matrices.
read_npy_rows <- function(a) {
  nv_read_npy(written("rows.npy", function(path) nv_write_npy(a, path, order = "C")))
}

read_safetensors <- function(a) {
  nv_read(written("a.safetensors", function(path) nv_save(list(a = a), path)))$a
}

new_npy <- function(a) {
  path <- file_of("new.npy")
  unlink(path)
  nv_write_npy(a, path)
}

new_safetensors <- function(a) {
  path <- file_of("new.safetensors")
  unlink(path)
  nv_save(list(a = a), path)
}

over_npy <- function(a) nv_write_npy(a, file_of("over.npy"))
