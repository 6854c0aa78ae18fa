# Random verbs of dplyr, tibble, data.table and base R on columns of 64-bit integers beyond 2^53,
# beside the same on columns of text.
#
#   R -f tests/verbs/random_verbs.R --args [CALLS [SEED [SHOWN]]]
#
# All integers have 19 digits, so that text is in their order, too. A call is the same, refused (an
# error), told (it differs, and joist warns), or silent: a failure, of which the first are shown.
# The last lines are "note:" and "counts:".
suppressMessages({
  library(joist)
  library(dplyr)
  library(data.table)
})
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
given <- function(k, otherwise) if (length(arguments) < k) otherwise else arguments[k]
calls <- given(1, 1000)
seed <- given(2, 1)
shown <- given(3, 5)
invisible(Sys.setlocale("LC_COLLATE", "C"))

# Neighbours, which are the same doubles.
ids <- c(
  sprintf("90071992547409930%02d", 1:8), sprintf("12345678901234567%02d", 81:84),
  "9223372036854775806", "9223372036854775807"
)

one <- function(x) x[sample.int(length(x), 1L)]
some <- function(n, missing) {
  taken <- sample(ids, n, replace = TRUE)
  if (missing) taken[sample.int(n, 1L)] <- NA
  taken
}

# Frames that differ in the class of `id` alone, and a key.
drawn <- function() {
  missing <- runif(1) < 0.2
  rows <- list(n = sample(2:9, 1), m = sample(2:9, 1))
  list(
    x = some(rows$n, missing), y = some(rows$m, missing), v = sample.int(9L, rows$n, TRUE),
    w = sample.int(9L, rows$m, TRUE), key = one(ids), keys = sample(ids, 3)
  )
}

frames_of <- function(draw, as_key, make) {
  list(
    a = make(id = as_key(draw$x), v = draw$v), b = make(id = as_key(draw$y), w = draw$w),
    u = make(id = as_key(unique(draw$x)), v = seq_along(unique(draw$x))),
    key = as_key(draw$key), keys = as_key(draw$keys)
  )
}

tidy <- list(
  equal = \(f) filter(f$a, id == f$key), among = \(f) filter(f$a, id %in% f$keys),
  above = \(f) filter(f$a, id > f$key), between = \(f) filter(f$a, id >= f$keys[1], id < f$keys[2]),
  arrange = \(f) arrange(f$a, id, v), descending = \(f) arrange(f$a, desc(id), v),
  distinct = \(f) distinct(f$a, id), count = \(f) count(f$a, id),
  groups = \(f) summarise(f$a, n = n(), s = sum(v), .by = id),
  sorted_groups = \(f) ungroup(summarise(group_by(f$a, id), s = sum(v))),
  group_first = \(f) summarise(f$a, id = first(id), .by = v),
  group_last = \(f) summarise(f$a, id = last(id), .by = v),
  n_distinct = \(f) summarise(f$a, n = n_distinct(id), .by = v),
  inner = \(f) inner_join(f$a, f$b, "id", relationship = "many-to-many"),
  left = \(f) left_join(f$a, f$b, "id", relationship = "many-to-many"),
  right = \(f) right_join(f$a, f$b, "id", relationship = "many-to-many"),
  full = \(f) full_join(f$a, f$b, "id", relationship = "many-to-many"),
  semi = \(f) semi_join(f$a, f$b, "id"), anti = \(f) anti_join(f$a, f$b, "id"),
  bind = \(f) bind_rows(f$a, f$b), columns = \(f) bind_cols(f$u["id"], other = rev(f$u$id)),
  union = \(f) union(f$a["id"], f$b["id"]), intersect = \(f) intersect(f$a["id"], f$b["id"]),
  setdiff = \(f) setdiff(f$a["id"], f$b["id"]), union_all = \(f) union_all(f$a["id"], f$b["id"]),
  symdiff = \(f) symdiff(f$a["id"], f$b["id"]),
  lag = \(f) mutate(f$a, id = lag(id)), lead = \(f) mutate(f$a, id = lead(id, 1L)),
  update = \(f) rows_update(f$u, mutate(f$u[1, ], v = 77L), "id"),
  insert = \(f) rows_insert(f$u, mutate(f$u[0, ], v = v), "id"),
  delete = \(f) rows_delete(f$u, f$u[1, "id"], "id"),
  if_else = \(f) mutate(f$a, id = if_else(v > 4L, id, f$key)),
  case_when = \(f) mutate(f$a, id = case_when(v > 6L ~ f$key, v > 3L ~ f$keys[1], TRUE ~ id)),
  coalesce = \(f) mutate(f$a, id = coalesce(id, f$key)),
  na_if = \(f) mutate(f$a, id = na_if(id, f$key)),
  consecutive = \(f) mutate(f$a, n = consecutive_id(id)),
  slice_max = \(f) slice_max(f$a, id, n = 2), slice_min = \(f) slice_min(f$a, id, n = 2),
  rank = \(f) mutate(f$a, r = min_rank(id), d = dense_rank(id)),
  add_row = \(f) tibble::add_row(tibble::as_tibble(f$a), id = f$key, v = 1L),
  assign = \(f) {
    f$a[1, "id"] <- f$key
    f$a
  },
  column = \(f) {
    f$a$id[2] <- f$key
    f$a
  },
  base_merge = \(f) merge(as.data.frame(f$a), as.data.frame(f$b), by = "id"),
  base_match = \(f) data.frame(at = match(f$a$id, f$b$id), dup = duplicated(f$a$id)),
  base_rbind = \(f) rbind(as.data.frame(f$a["id"]), as.data.frame(f$b["id"])),
  base_order = \(f) as.data.frame(f$a)[order(f$a$id, f$a$v), ],
  base_split = \(f) data.frame(n = lengths(split(f$a$v, f$a$id), use.names = FALSE)),
  base_tapply = \(f) data.frame(s = as.vector(tapply(f$a$v, f$a$id, sum))),
  base_table = \(f) data.frame(n = as.vector(table(f$a$id))),
  base_unique = \(f) unique(as.data.frame(f$a)), base_grow = \(f) {
    a <- as.data.frame(f$a)
    a[nrow(a) + 1L, "v"] <- 3L
    a
  }
)
tables <- list(
  equal = \(f) f$a[id == f$key], among = \(f) f$a[id %in% f$keys],
  order = \(f) f$a[order(id, v)], by = \(f) f$a[, .(n = .N, s = sum(v)), by = id],
  keyby = \(f) f$a[, .(s = sum(v)), keyby = id], unique = \(f) unique(f$a, by = "id"),
  duplicated = \(f) data.frame(d = duplicated(f$a, by = "id")),
  merge = \(f) merge(f$a, f$b, by = "id", allow.cartesian = TRUE),
  join = \(f) f$a[f$b, on = "id", allow.cartesian = TRUE],
  anti = \(f) f$a[!f$b, on = "id"], bind = \(f) rbindlist(list(f$a, f$b), fill = TRUE),
  rbind = \(f) rbind(f$a, f$a), rows = \(f) f$a[v > 4L], head = \(f) head(f$a, 2L),
  setkey = \(f) setkey(copy(f$a), id), setorder = \(f) setorder(copy(f$a), -id, v),
  shift = \(f) copy(f$a)[, id := shift(id)],
  fifelse = \(f) copy(f$a)[, id := fifelse(v > 4L, id, f$key)],
  set = \(f) copy(f$a)[v > 4L, id := f$key], uniqueN = \(f) data.frame(n = uniqueN(f$a$id)),
  rleid = \(f) data.frame(n = rleid(f$a$id)), frank = \(f) data.frame(n = frank(f$a$id)),
  fsetdiff = \(f) fsetdiff(f$a[, .(id)], f$b[, .(id)]),
  fintersect = \(f) fintersect(f$a[, .(id)], f$b[, .(id)])
)

# What a call gives, as text; NULL after an error. `told` says whether joist warned.
outcome <- function(verb, frames) {
  told <- FALSE
  text <- withCallingHandlers(
    tryCatch(
      {
        made <- as.list(verb(frames))
        made <- lapply(made, function(column) {
          if (is.numeric(column) && !is_tensor(column)) as.numeric(column) else as.character(column)
        })
        nv_scalar(1L, "i32") + 0L # base R's readings are told with the next call
        made
      },
      error = function(e) NULL
    ),
    warning = function(w) {
      told <<- told || inherits(w, "joist_warning")
      invokeRestart("muffleWarning")
    },
    message = function(m) invokeRestart("muffleMessage")
  )
  list(text = text, told = told)
}

kinds <- character(calls)
for (k in seq_len(calls)) {
  set.seed(seed + k)
  draw <- drawn()
  table <- runif(1) < 0.3
  verbs <- if (table) tables else tidy
  make <- if (table) data.table else if (runif(1) < 0.5) tibble::tibble else data.frame
  name <- one(names(verbs))
  d <- one(c("i64", "ui64"))
  want <- outcome(verbs[[name]], frames_of(draw, identity, make))
  got <- outcome(verbs[[name]], frames_of(draw, function(x) nv_tensor(x, d), make))
  kinds[k] <- if (is.null(want$text)) {
    "undefined"
  } else if (is.null(got$text)) {
    "refused"
  } else if (identical(got$text, want$text)) {
    "same"
  } else if (got$told) {
    "told"
  } else {
    "silent"
  }
  if (kinds[k] == "silent" && shown > 0) {
    shown <- shown - 1
    cat(if (table) "data.table" else "dplyr", name, d, "seed", seed + k, "\n")
    utils::str(list(want = want$text, got = got$text))
  }
  names(kinds)[k] <- paste(if (table) "table" else "tidy", name)
}
found <- table(factor(kinds, c("same", "refused", "told", "undefined", "silent")))
refused <- sort(unique(names(kinds)[kinds %in% c("refused", "told")]))
cat("refused or told:", refused, fill = 100)
cat("note:", paste(found, names(found), collapse = ", "), "\n")
cat("counts:", calls - found[["silent"]], found[["silent"]], 0, "\n")
