# Shared by the round trips of files and stores.

# The bytes of array_of() in the Python programs, in R's order of elements.
bytes_wanted <- function(dtype, shape) {
  n <- prod(shape)
  size <- length(nv_write_bin(nv_scalar(0L, if (dtype == "bool") "ui8" else dtype)))
  bytes <- if (dtype == "bool") {
    as.raw((seq_len(n) - 1) %% 3 == 0)
  } else {
    as.raw(((seq_len(n * size) - 1) * 197 + 91) %% 256)
  }
  if (n == 0) {
    return(raw())
  }
  place <- aperm(array(seq_len(n), rev(c(shape, 1L))), rev(seq_len(length(shape) + 1L)))
  as.vector(matrix(bytes, size)[, as.vector(place)])
}
