#' PyTorch checkpoints
#'
#' `nv_read_pt()` reads the tensors of a checkpoint (`.pt`, `.pth`, `.bin`) that `torch.save()`
#' wrote as a zip archive, which it does since PyTorch 1.6.
#'
#' A checkpoint is a program for Python's pickle machine, which can call any function. This
#' reader runs none: it knows the few names that state dicts contain (tensors, parameters,
#' storages, ordered dicts) and refuses any other by its name. Save other objects as
#' `torch.save(model.state_dict(), path)`.
#'
#' Lists and dicts become lists, numbers, strings and logical values R's; tuples are lists. Tensors
#' have the shape that Python shows.
#'
#' @param path The name of a file.
#' @return What was saved: for a state dict a named list of tensors, each of the dtype of its
#'   storage.
#' @section Errors: `joist_value_error` for a file that is not such an archive, for a class or
#'   function other than these (the message names it), also a storage of a type that joist does
#'   not have, and for a damaged pickle, a storage that is too short or a tensor beyond its storage.
#' @source Python's `pickletools` documents the instructions of pickles; `torch/serialization.py`
#'   the archive.
#' @examples
#' # In Python: torch.save({"w": torch.ones(2, 3)}, "model.pt")
#' if (file.exists("model.pt")) nv_read_pt("model.pt")$w
#' @seealso [nv_read_safetensors()], a format without a program
#' @export
nv_read_pt <- function(path) {
  check_path(path)
  path <- found_path(path)
  members <- npz_members(path)
  pickle <- grep("(^|/)data[.]pkl$", members, value = TRUE)
  if (length(pickle) != 1L) {
    stop_joist(
      "joist_value_error", "\"", path, "\" is not a checkpoint of PyTorch: it has no data.pkl"
    )
  }
  folder <- sub("data[.]pkl$", "", pickle)
  member <- function(name) {
    if (!name %in% members) {
      stop_joist("joist_value_error", "the checkpoint has no member \"", name, "\"")
    }
    con <- unz(path, name)
    on.exit(tryCatch(close(con), error = function(e) NULL))
    bytes_of_connection(con, NULL)
  }
  order <- paste0(folder, "byteorder")
  said <- if (order %in% members) member(order) else charToRaw("little")
  endian <- Find(function(x) identical(said, charToRaw(x)), c("little", "big"))
  if (is.null(endian)) {
    stop_joist("joist_value_error", "the byte order of the checkpoint is neither little nor big")
  }
  read_pickle(member(pickle), function(key) member(paste0(folder, "data/", key)), endian)
}

# The dtypes of storages, by the names that pickles have.
torch_storages <- c(
  DoubleStorage = "f64", FloatStorage = "f32", HalfStorage = "f16", BFloat16Storage = "bf16",
  LongStorage = "i64", IntStorage = "i32", ShortStorage = "i16", CharStorage = "i8",
  ByteStorage = "ui8", BoolStorage = "bool", ComplexFloatStorage = "c64",
  ComplexDoubleStorage = "c128", UInt16Storage = "ui16", UInt32Storage = "ui32",
  UInt64Storage = "ui64", Float8_e4m3fnStorage = "f8E4M3FN", Float8_e5m2Storage = "f8E5M2"
)

# All that a pickle may name.
torch_names <- c(
  paste("torch", names(torch_storages)), "torch._utils _rebuild_tensor_v2",
  "torch._utils _rebuild_parameter", "collections OrderedDict", "torch Size"
)

bad_pickle <- function(...) {
  stop_joist("joist_value_error", "this is not a valid pickle of a checkpoint: ", ...)
}

# Runs a pickle of protocols 2 to 5 on a stack. `storage` gives the bytes of one by its key.
read_pickle <- function(bytes, storage, endian) {
  machine <- pickle_machine(bytes, storage, endian)
  repeat {
    code <- machine$number(1L)
    instruction <- pickle_instructions[[format(code)]]
    if (code == 46) { # STOP
      return(plain_pickle(machine$pop()))
    }
    if (is.null(instruction)) bad_pickle("instruction ", code, " is not one of state dicts")
    instruction(machine)
  }
}

# What instructions do something to: the bytes that follow, the stack, marks in it, and what was
# kept.
pickle_machine <- function(bytes, storage, endian) {
  at <- 0L
  stack <- list()
  marks <- integer()
  memo <- new.env(parent = emptyenv())
  take <- function(n) {
    if (n > length(bytes) - at) bad_pickle("it is cut off")
    at <<- at + as.integer(n)
    bytes[at - n + seq_len(n)]
  }
  number <- function(n) sum(as.integer(take(n)) * 256^(seq_len(n) - 1L))
  text <- function(n) {
    taken <- take(n)
    if (any(taken == as.raw(0L))) bad_pickle("it has a string with NUL")
    `Encoding<-`(rawToChar(taken), "UTF-8")
  }
  line <- function() {
    end <- match(as.raw(10L), bytes[-seq_len(at)])
    if (is.na(end)) bad_pickle("it is cut off")
    out <- text(end - 1L)
    take(1L)
    out
  }
  push <- function(x) stack[[length(stack) + 1L]] <<- list(x)
  top <- function() {
    if (length(stack) == 0L) bad_pickle("its stack is empty")
    stack[[length(stack)]][[1L]]
  }
  pop <- function() {
    out <- top()
    if (length(marks) > 0L && length(stack) <= marks[length(marks)]) bad_pickle("it has no item")
    stack[[length(stack)]] <<- NULL
    out
  }
  mark <- function() marks <<- c(marks, length(stack))
  to_mark <- function() {
    if (length(marks) == 0L) bad_pickle("it has no mark")
    from <- marks[length(marks)]
    items <- stack[seq_len(length(stack) - from) + from]
    stack <<- stack[seq_len(from)]
    marks <<- marks[-length(marks)]
    items
  }
  keep <- function(key) assign(format(key), list(top()), envir = memo)
  recall <- function(key) {
    found <- memo[[format(key)]]
    if (is.null(found)) bad_pickle("it recalls what it did not keep")
    push(found[[1L]])
  }
  storages <- new.env(parent = emptyenv())
  stored <- function(key) {
    if (is.null(storages[[key]])) assign(key, storage(key), envir = storages)
    storages[[key]]
  }
  list(
    take = take, number = number, text = text, line = line, push = push, top = top, pop = pop,
    mark = mark, to_mark = to_mark, keep = keep, recall = recall, stored = stored, memo = memo,
    endian = endian
  )
}

# Lists, dicts and tuples are environments until the end, as they change. Items are lists of one,
# so that they can be NULL.
collection <- function(kind, items = list(), keys = list()) {
  list2env(list(kind = kind, items = items, keys = keys), parent = emptyenv())
}

is_collection <- function(x, kind) is.environment(x) && x$kind == kind

add_items <- function(to, items) {
  if (is_collection(to, "list")) {
    to$items <- c(to$items, items)
  } else if (is_collection(to, "dict") && length(items) %% 2L == 0L) {
    odd <- seq_along(items) %% 2L == 1L
    to$keys <- c(to$keys, items[odd])
    to$items <- c(to$items, items[!odd])
  } else {
    bad_pickle("it adds items to what does not take them")
  }
}

# By the codes of Python's pickletools.
pickle_instructions <- list(
  `128` = function(m) if (m$number(1L) > 5) bad_pickle("its protocol is unknown"), # PROTO
  `149` = function(m) m$take(8L), # FRAME
  `40` = function(m) m$mark(), # MARK
  `48` = function(m) m$pop(), # POP
  `125` = function(m) m$push(collection("dict")), # EMPTY_DICT
  `93` = function(m) m$push(collection("list")), # EMPTY_LIST
  `41` = function(m) m$push(collection("tuple")), # EMPTY_TUPLE
  `133` = function(m) push_tuple(m, 1L), # TUPLE1 to TUPLE3
  `134` = function(m) push_tuple(m, 2L),
  `135` = function(m) push_tuple(m, 3L),
  `116` = function(m) m$push(collection("tuple", m$to_mark())), # TUPLE
  `108` = function(m) m$push(collection("list", m$to_mark())), # LIST
  `78` = function(m) m$push(NULL), # NONE
  `136` = function(m) m$push(TRUE), # NEWTRUE
  `137` = function(m) m$push(FALSE), # NEWFALSE
  `75` = function(m) m$push(m$number(1L)), # BININT1
  `77` = function(m) m$push(m$number(2L)), # BININT2
  `74` = function(m) m$push(signed(m$number(4L), 4L)), # BININT
  `138` = function(m) { # LONG1
    n <- m$number(1L)
    if (n > 6) bad_pickle("it has an integer of more than 48 bits")
    m$push(signed(m$number(n), n))
  },
  `71` = function(m) m$push(readBin(m$take(8L), "double", endian = "big")), # BINFLOAT
  `88` = function(m) m$push(m$text(m$number(4L))), # BINUNICODE
  `140` = function(m) m$push(m$text(m$number(1L))), # SHORT_BINUNICODE
  `113` = function(m) m$keep(m$number(1L)), # BINPUT
  `114` = function(m) m$keep(m$number(4L)), # LONG_BINPUT
  `148` = function(m) m$keep(length(m$memo)), # MEMOIZE
  `104` = function(m) m$recall(m$number(1L)), # BINGET
  `106` = function(m) m$recall(m$number(4L)), # LONG_BINGET
  `99` = function(m) { # GLOBAL
    module <- m$line()
    m$push(pickle_name(module, m$line()))
  },
  `147` = function(m) { # STACK_GLOBAL
    what <- m$pop()
    module <- m$pop()
    if (!is.character(module) || !is.character(what)) bad_pickle("a name is not a string")
    m$push(pickle_name(module, what))
  },
  `81` = function(m) m$push(pickle_storage(m, m$pop())), # BINPERSID
  `82` = function(m) { # REDUCE
    given <- m$pop()
    m$push(pickle_call(m$pop(), given, m$endian))
  },
  `97` = function(m) { # APPEND
    item <- m$pop()
    add_items(m$top(), list(list(item)))
  },
  `115` = function(m) { # SETITEM
    value <- m$pop()
    key <- m$pop()
    add_items(m$top(), list(list(key), list(value)))
  },
  `101` = function(m) { # APPENDS
    items <- m$to_mark()
    add_items(m$top(), items)
  },
  `98` = function(m) { # BUILD: attributes of an ordered dict
    m$pop()
    if (!is_collection(m$top(), "dict")) bad_pickle("it sets attributes of what is not a dict")
  }
)
pickle_instructions[["117"]] <- pickle_instructions[["101"]] # SETITEMS

push_tuple <- function(m, n) {
  items <- lapply(seq_len(n), function(k) list(m$pop()))
  m$push(collection("tuple", rev(items)))
}

pickle_name <- function(module, what) {
  name <- paste(module, what)[1L] # before a dispatch makes another error of one
  if (!name %in% torch_names) {
    stop_joist(
      "joist_value_error", "the checkpoint asks for ", module, ".", what, ", which is not a part ",
      "of state dicts; it was not called"
    )
  }
  structure(list(what), class = "pickle_name")
}

is_pickle_name <- function(x) inherits(x, "pickle_name")

plain_items <- function(x) if (is_collection(x, "tuple")) lapply(x$items, `[[`, 1L)

pickle_call <- function(f, given, endian) {
  if (!is_pickle_name(f) || !is_collection(given, "tuple")) {
    bad_pickle("it calls what is not a function")
  }
  given <- plain_items(given)
  if (length(given) == 0L && f[[1L]] != "OrderedDict") bad_pickle("it calls without arguments")
  switch(f[[1L]],
    OrderedDict = {
      made <- collection("dict")
      pairs <- if (length(given) > 0L && is.environment(given[[1L]])) given[[1L]]$items
      for (pair in pairs) {
        if (!is.environment(pair[[1L]])) bad_pickle("it makes a dict of what is not a pair")
        add_items(made, pair[[1L]]$items)
      }
      made
    },
    Size = , `_rebuild_parameter` = given[[1L]],
    `_rebuild_tensor_v2` = torch_tensor(given, endian),
    bad_pickle("it calls ", f[[1L]])
  )
}

# ("storage", type, key, device, count)
pickle_storage <- function(m, id) {
  fields <- plain_items(id)
  is_storage <- length(fields) == 5L && identical(fields[[1L]], "storage") &&
    is_pickle_name(fields[[2L]]) && is.character(fields[[3L]])
  dtype <- if (is_storage) torch_storages[fields[[2L]][[1L]]] else NA
  if (is.na(dtype)) bad_pickle("it refers to what is not a storage")
  structure(list(bytes = m$stored(fields[[3L]]), dtype = unname(dtype)), class = "pickle_storage")
}

signed <- function(x, bytes) if (x > 0 && x >= 256^bytes / 2) x - 256^bytes else x

is_size <- function(x) is.double(x) && length(x) == 1L && x >= 0

extents_of_pickle <- function(x) {
  found <- plain_items(x)
  if (!is.environment(x) || !all(vapply(found, is_size, NA))) bad_pickle("a tensor has no shape")
  as.double(unlist(found))
}

# (storage, offset, size, stride, ...)
torch_tensor <- function(given, endian) {
  if (length(given) < 4L || !inherits(given[[1L]], "pickle_storage") || !is_size(given[[2L]])) {
    bad_pickle("a tensor has no storage")
  }
  extents <- extents_of_pickle(given[[3L]])
  strides <- extents_of_pickle(given[[4L]])
  if (length(extents) != length(strides)) bad_pickle("a tensor has no strides")
  storage <- given[[1L]]
  first <- given[[2L]]
  last <- if (prod(extents) == 0) 0 else first + sum((extents - 1) * strides) + 1
  if (last * dtype_info(storage$dtype)$bits / 8 > length(storage$bytes)) {
    stop_joist(
      "joist_value_error", "a tensor of shape ", extents_text(extents), " is beyond its storage"
    )
  }
  elements_of_torch(storage, first, extents, strides, endian)
}

elements_of_torch <- function(storage, first, extents, strides, endian) {
  # Where the strides are those of C, the elements lie in a row.
  in_c <- rev(cumprod(c(1, rev(extents)))[seq_along(extents)])
  if (all(strides == in_c | extents == 1) || prod(extents) == 0) {
    size <- dtype_info(storage$dtype)$bits / 8
    bytes <- storage$bytes[first * size + seq_len(prod(extents) * size)]
    x <- nv_read_bin(bytes, storage$dtype, shape = rev(extents), endian = endian)
    return(if (length(extents) > 1L) aperm(x, rev(seq_along(extents))) else x)
  }
  positions <- first + 1
  for (d in seq_along(extents)) {
    positions <- outer(positions, (seq_len(extents[d]) - 1) * strides[d], "+")
  }
  x <- nv_read_bin(storage$bytes, storage$dtype, endian = endian)
  nv_reshape(x[as.vector(positions)], extents)
}

# Collections as lists; keys of dicts are names.
plain_pickle <- function(x) {
  if (is_pickle_name(x)) bad_pickle("it is a function")
  if (inherits(x, "pickle_storage")) {
    return(nv_read_bin(x$bytes, x$dtype))
  }
  if (!is.environment(x)) {
    return(x)
  }
  if (isTRUE(x$open)) bad_pickle("a collection contains itself")
  x$open <- TRUE
  out <- lapply(x$items, function(item) plain_pickle(item[[1L]]))
  x$open <- FALSE
  key_text <- function(key) if (is.object(key) || is.environment(key)) "" else format(key)
  if (x$kind == "dict") names(out) <- vapply(x$keys, function(key) key_text(key[[1L]])[1L], "")
  out
}
