# Gradients of joist and of JAX: of every operation that has a derivative on twenty shapes, and of
# random programs of up to 30 operations, in f64 and f32; second derivatives of some of them. In f64
# gradients are compared with differences, too.
#
#   Rscript tests/gradients/programs.R PYTHON [programs] [seconds] [shapes] [seed] [--record]
#
# answers.rds holds JAX's answers to the programs that tools/test runs. For programs without a
# recorded answer, PYTHON must have JAX; tools/test makes a virtual environment for it. Without JAX,
# the script says so and exits with status 77.
#
# With --record, JAX answers all programs of the call, and its answers replace those in answers.rds.
# Record with the arguments of tools/test.mk after changing steps.R, reference.py or how programs
# are made, and for a new version of JAX:
#
#   Rscript tests/gradients/programs.R PYTHON 100 15 2 --record
#
# What is compared with is JAX's gradient in f64, of the same numbers, with some functions of
# Python's that are more accurate. An operation's may be as many units in the last place away as its
# step says. A program's rounding errors grow on the way: they may be `slack` times as many as JAX
# loses itself between f64 and f32, and `floor` more, or as many as its worst step may lose, in
# units of the largest element.

suppressPackageStartupMessages(library(joist))

arguments <- commandArgs(TRUE)
recording <- "--record" %in% arguments
arguments <- arguments[arguments != "--record"]
python <- arguments[1L]
program_count <- if (length(arguments) > 1L) as.integer(arguments[2L]) else 400L
second_count <- if (length(arguments) > 2L) as.integer(arguments[3L]) else program_count %/% 10L
shape_count <- if (length(arguments) > 3L) as.integer(arguments[4L]) else 20L
set.seed(if (length(arguments) > 4L) as.integer(arguments[5L]) else 1L)
slack <- 8
floor <- 32

folder <- Sys.getenv("JOIST_GRADIENT_TESTS", "tests/gradients")
reference <- file.path(folder, "reference.py")
answers_file <- file.path(folder, "answers.rds")
source(file.path(folder, "steps.R"))
source(file.path(folder, "..", "testthat", "helper-operations.R"))

# ---- what programs call ----

weigh <- function(x) {
  x <- nv_flatten(x)
  sum(x * nv_tensor(cos(seq_len(length(x)) * 1.3) + 0.2, dtype(x), length(x)))
}
turned <- function(x) nv_transpose(x, c(2L, 1L, seq_along(shape(x))[-(1:2)]))
ladder <- function(x) {
  extents <- shape(x)
  sin(x) * 0.5 + nv_tensor(rep(diag(2 + 2 * seq_len(extents[1L]), extents[1L]),
    prod(extents[-(1:2)])), dtype(x), extents)
}
assign_at <- function(x, at, value) {
  x[at] <- value
  x
}
assign_rows <- function(x, value) {
  rows <- list(2:shape(x)[1L])
  rest <- rep(list(substitute()), length(shape(x)) - 1L)
  do.call(`[<-`, c(list(x), rows, rest, list(value = value)))
}

# ---- making programs ----

fill <- function(text, names) {
  for (k in seq_along(names)) {
    text <- gsub(sprintf("{%s}", letters[k]), names[k], text, fixed = TRUE)
  }
  text
}

# The code of a step in both languages; `wrap` brings the operands into its domain.
code_of <- function(step, shapes, names, wrap) {
  made <- do.call(step$code, shapes)
  if (is.null(made)) {
    return(NULL)
  }
  into <- function(language) {
    mapply(function(name, domain) {
      if (wrap || domain == "square") sprintf(domains[[domain]][[language]], name) else name
    }, names, step$domains)
  }
  c(r = fill(made$r, into("r")), py = fill(made$py, into("py")))
}

draw <- function(domain, extents) {
  drawn <- if (is.null(domains[[domain]]$draw)) domains$any$draw else domains[[domain]]$draw
  round_to_f32(array(drawn(prod(extents)), if (length(extents) > 0L) extents else 1L))
}
round_to_f32 <- function(x) {
  array(as.double(nv_tensor(as.vector(x), "f32", length(x))), dim(x))
}

shapes <- list(
  integer(), 1L, 2L, 3L, 7L, 16L, 33L, c(1L, 1L), c(1L, 5L), c(5L, 1L), c(2L, 3L), c(3L, 3L),
  c(4L, 4L), c(8L, 5L), c(2L, 3L, 4L), c(4L, 4L, 3L), c(3L, 1L, 2L), c(2L, 2L, 2L, 2L),
  c(0L, 3L), c(17L, 9L)
)
shapes <- shapes[sort(sample(length(shapes), shape_count))]

# One operation, of operands in its domain that are far enough from where it has no derivative.
of_operation <- function(name, extents) {
  step <- steps[[name]]
  own <- step$like(extents)
  repeat {
    inputs <- Map(draw, step$domains, own)
    if (do.call(step$ok, unname(inputs))) break
  }
  names <- paste0("x", seq_along(inputs))
  code <- code_of(step, own, names, wrap = FALSE)
  if (is.null(code)) stop("the step ", name, " is not for shapes of its own")
  list(
    name = name, inputs = unname(inputs), shapes = own, kind = "operation",
    r = sprintf("weigh(%s)", code[["r"]]), py = sprintf("return weigh(%s)", code[["py"]])
  )
}

tensors <- function(program, dtype) {
  Map(function(x, extents) nv_tensor(as.vector(x), dtype, extents), program$inputs, program$shapes)
}

# Up to 30 operations. The values of all are kept to see what fits.
random_program <- function(kind, most = 30L) {
  extents <- if (runif(1) < 0.7) c(3L, 3L) else 3L
  kept <- list(integer(), 3L, c(3L, 3L), c(1L, 3L), c(3L, 1L))
  own <- list(extents, if (runif(1) < 0.3) integer() else extents, extents)
  inputs <- lapply(own, function(e) draw("any", e))
  pool <- Map(function(x, e) nv_tensor(as.vector(x), "f64", e), inputs, own)
  names <- paste0("x", seq_along(own))
  lines <- list(r = character(), py = character())
  used <- character()
  scope <- new.env(parent = globalenv())
  for (k in seq_along(pool)) assign(names[k], pool[[k]], scope)
  wanted <- sample(3:most, 1L)
  for (attempt in seq_len(20L * wanted)) {
    if (length(used) == wanted) break
    made <- random_step(pool, names)
    if (is.null(made)) next
    value <- eval(parse(text = made$code[["r"]]), scope)
    # JAX compiles for each shape.
    if (!list(shape(value)) %in% kept) {
      made$code[] <- sprintf("(weigh(%s) * 0.2)", made$code)
      value <- eval(parse(text = made$code[["r"]]), scope)
    }
    size <- if (length(value) > 0L) max(abs(as.double(value))) else 0
    if (!is.finite(size) || size > 8 || length(value) > 36L) next
    used <- c(used, made$step)
    name <- paste0("v", length(used))
    assign(name, value, scope)
    pool[[length(pool) + 1L]] <- value
    names <- c(names, name)
    lines <- Map(function(line, code) c(line, code), lines, made$code[c("r", "py")])
  }
  # What nothing uses has a part in the result, so that every operation is differentiated.
  taken <- vapply(names, function(name) {
    any(grepl(paste0("\\b", name, "\\b"), lines$r))
  }, NA)
  last <- paste(sprintf("weigh(%s)", names[!taken]), collapse = " + ")
  results <- paste0("v", seq_along(used))
  list(
    name = "program", steps = used, inputs = inputs, shapes = own, kind = kind,
    r = c(sprintf("%s <- %s", results, lines$r), last),
    py = c(sprintf("%s = %s", results, lines$py), paste("return", last))
  )
}

random_step <- function(pool, names) {
  name <- sample(setdiff(names(steps), "convert"), 1L)
  step <- steps[[name]]
  newer <- seq_along(pool)
  at <- sample(length(pool), length(step$domains), TRUE, prob = newer)
  code <- code_of(step, lapply(pool[at], shape), names[at], wrap = TRUE)
  if (is.null(code)) {
    return(NULL)
  }
  values <- Map(function(x, domain) {
    scope <- list2env(list(x = x), parent = globalenv())
    as.array(eval(parse(text = sprintf(domains[[domain]]$r, "x")), scope))
  }, pool[at], step$domains)
  if (do.call(step$ok, unname(values))) list(step = name, code = code)
}

# ---- both sides ----

function_of <- function(program) {
  names <- paste0("x", seq_along(program$inputs), collapse = ", ")
  eval(parse(text = c(sprintf("function(%s) {", names), program$r, "}")), globalenv())
}

second_of <- function(f) {
  force(f)
  function(...) {
    Reduce(`+`, lapply(gradient(f)(...), function(g) weigh(g) + weigh(g * g)))
  }
}

record <- function(program) {
  numbers <- mapply(function(x, extents) {
    paste0(vector_text(extents, " "), ";", vector_text(sprintf("%.17g", x), " "))
  }, program$inputs, program$shapes)
  header <- paste(
    "program", program$kind, length(program$inputs), length(program$py)
  )
  c(header, numbers, program$py)
}

# The keys of recorded answers: hashes of the text of each program and of reference.py, whose
# functions programs call. md5sum() only reads files.
keys_of <- function(records) {
  files <- file.path(tempfile("records"), seq_along(records))
  dir.create(dirname(files[1L]))
  called <- tools::md5sum(reference)
  for (k in seq_along(records)) writeLines(c(called, records[[k]]), files[k])
  unname(tools::md5sum(files))
}

# The version of JAX in PYTHON, NULL if it is not installed.
jax_version <- function() {
  code <- shQuote("import jax; print(jax.__version__)")
  version <- tryCatch(system2(python, c("-c", code), TRUE, FALSE), condition = function(c) NULL)
  if (length(version) == 1L) version
}

# JAX's answers to all programs, recorded or from JAX, and a note about where they come from.
ask <- function(programs) {
  records <- lapply(programs, record)
  keys <- keys_of(records)
  recorded <- if (recording) list(answers = list()) else readRDS(answers_file)
  found <- keys %in% names(recorded$answers)
  answers <- vector("list", length(programs))
  answers[found] <- recorded$answers[keys[found]]
  sources <- sprintf("%d answers recorded from JAX %s", sum(found), recorded$jax)
  if (!all(found)) {
    version <- jax_version()
    if (is.null(version)) {
      cat("note: no JAX, and", sum(!found), "programs without a recorded answer\n")
      quit("no", status = 77L)
    }
    answers[!found] <- ask_jax(programs[!found], records[!found])
    sources <- c(sources, sprintf("%d answers now from JAX %s", sum(!found), version))
  }
  if (recording) {
    recorded <- list(jax = version, answers = setNames(answers, keys))
    saveRDS(recorded, answers_file, compress = "xz")
  }
  list(answers = answers, note = paste(sources, collapse = ", "))
}

# The value and the gradients that JAX gives, for f64 and f32, of the function and of its second.
ask_jax <- function(programs, records) {
  files <- tempfile(c("programs", "numbers"))
  writeLines(unlist(records), files[1L])
  status <- system2(python, c(reference, files))
  if (status != 0L) stop("JAX did not answer")
  sizes <- lapply(programs, function(program) c(1, vapply(program$shapes, prod, 0)))
  numbers <- readBin(files[2L], "double", file.size(files[2L]) / 8)
  at <- 0
  take <- function(sizes) {
    lapply(sizes, function(size) {
      at <<- at + size
      numbers[at - size + seq_len(size)]
    })
  }
  kinds <- vapply(programs, `[[`, "", "kind")
  parts <- rep(2L, length(programs))
  parts[kinds == "second"] <- 4L
  group <- cumsum(kinds != "operation" | (seq_along(kinds) - 1L) %% 20L == 0L)
  answers <- lapply(programs, function(program) list())
  for (together in split(seq_along(programs), group)) {
    for (part in seq_len(parts[together[1L]])) {
      for (k in together) answers[[k]][[part]] <- take(sizes[[k]])
    }
  }
  answers
}

own_answer <- function(f, program, dtype) {
  both <- do.call(value_and_gradient(f), tensors(program, dtype))
  for (grad in both$grad) {
    if (format(dtype(grad)) != dtype || ambiguous(grad)) stop("a gradient has the wrong dtype")
  }
  lapply(c(list(both$value), both$grad), as.double)
}

precision <- c(f64 = 2^-52, f32 = 2^-23)

# How far apart in units of the last place, of each element or of the largest one, or of `least`.
ulps <- function(own, reference, dtype, each, least = 2^-20) {
  scale <- if (each) abs(reference) else max(abs(reference), 0)
  worst <- abs(own - reference) / (precision[[dtype]] * pmax(scale, least))
  if (!identical(is.finite(own), is.finite(reference))) Inf else max(worst, 0)
}

# ---- comparing ----

counts <- c(passed = 0L, failed = 0L)
worst <- list()

keep_worst <- function(name, dtype, off) {
  old <- worst[[name]]
  if (is.null(old)) old <- c(f64 = 0, f32 = 0)
  worst[[name]] <<- replace(old, dtype, max(old[[dtype]], off))
}

judge <- function(good, program, what) {
  if (isTRUE(good)) {
    counts[["passed"]] <<- counts[["passed"]] + 1L
    return()
  }
  counts[["failed"]] <<- counts[["failed"]] + 1L
  if (counts[["failed"]] <= 20L) {
    cat(program$name, ": ", what, "\n", sep = "")
    cat("  ", program$r, sep = "\n  ")
    inputs <- vapply(program$inputs, function(x) vector_text(sprintf("%.9g", head(c(x), 20L))), "")
    cat(paste0("  x", seq_along(inputs), ": ", inputs), sep = "\n")
  }
}

compare_operation <- function(program, given) {
  step <- steps[[program$name]]
  f <- function_of(program)
  for (dtype in names(precision)) {
    own <- own_answer(f, program, dtype)
    off <- max(mapply(ulps, own[-1L], given[[1L]][-1L], dtype, step$each))
    keep_worst(program$name, dtype, off)
    judge(off <= step$bound, program, sprintf("%s: %.3g units in the last place", dtype, off))
  }
  compare_differences(f, program, own_answer(f, program, "f64"))
}

compare_program <- function(program, given) {
  f <- function_of(program)
  f <- if (program$kind == "second") list(f, second_of(f)) else list(f)
  floor <- max(floor, vapply(program$steps, function(name) steps[[name]]$bound, 0))
  for (k in seq_along(f)) {
    wide <- given[[2L * k - 1L]]
    # The value is a sum of numbers around 1, and the gradient by a scalar one of numbers like those
    # of the others: little may be left of them.
    largest <- max(abs(unlist(wide[-1L])), 2^-20)
    least <- c(1, ifelse(lengths(program$inputs) == 1L, largest, 2^-20))
    lost <- mapply(ulps, given[[2L * k]], wide, "f32", FALSE, least)
    for (dtype in names(precision)) {
      off <- mapply(ulps, own_answer(f[[k]], program, dtype), wide, dtype, FALSE, least)
      rate <- max(off / (slack * lost + floor))
      id <- paste0("programs, derivative ", k)
      keep_worst(id, dtype, rate)
      judge(rate <= 1, program, sprintf("%s, derivative %d: %.3g times the bound", dtype, k, rate))
    }
  }
  compare_differences(f[[1L]], program, own_answer(f[[1L]], program, "f64"))
}

# The slope along one direction.
compare_differences <- function(f, program, own) {
  if ("stopped" %in% c(program$name, program$steps)) {
    return()
  }
  x <- tensors(program, "f64")
  along <- lapply(program$inputs, function(x) cos(seq_along(x) * 2.1))
  f <- jit(f)
  at <- function(by) {
    moved <- Map(function(x, d) x + nv_tensor(by * d, "f64", shape(x)), x, along)
    as.double(do.call(f, moved))
  }
  step <- 2^-17
  # Richardson: the error is of the fourth order.
  slope <- (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
  terms <- unlist(Map(`*`, own[-1L], along))
  scale <- max(1, abs(own[[1L]]), sum(abs(terms)))
  off <- abs(slope - sum(terms)) / scale
  keep_worst("differences", "f64", off)
  judge(off < 1e-7, program, sprintf("differences give %.9g, not %.9g", slope, sum(terms)))
}

# ---- running ----

# Draws have none but by their parameters; loops are compared with their turns written out, in
# testthat. JAX has no inverses of incomplete gamma and beta functions, and multiplies only at
# different positions: what is scattered is compared with differences in testthat. Nothing reads
# what `print` gives. JAX has no products of blocks. Factors in another order, complex eigenvalues,
# singular values without vectors, and convolutions are compared with differences in testthat.
treated <- c(
  unlist(lapply(steps, `[[`, "covers")), "runif", "rnorm", "rexp", "rgamma", "for", "scan", "if",
  "inverse_gamma", "inverse_beta", "print", "require", "scatter_min", "scatter_max", "scatter_mul",
  "fft", "rfft", "irfft", "lu", "eig", "eigvals", "singular_values", "packed_product",
  "conv", "conv_input", "conv_kernel"
)
differentiable <- setdiff(operation_table()$name, c(without_slope, without_gradient))
lacking <- setdiff(differentiable, treated)
if (length(lacking) > 0L) {
  counts[["failed"]] <- counts[["failed"]] + length(lacking)
  cat("no step has the operations", lacking, "\n")
}
operations <- unlist(
  lapply(names(steps), function(name) lapply(shapes, function(e) of_operation(name, e))),
  recursive = FALSE
)
programs <- lapply(seq_len(program_count), function(k) {
  random_program(if (k <= second_count) "second" else "first")
})
asked <- ask(c(operations, programs))
given <- asked$answers
for (k in seq_along(operations)) compare_operation(operations[[k]], given[[k]])
for (k in seq_along(programs)) {
  compare_program(programs[[k]], given[[length(operations) + k]])
}
table <- do.call(rbind, worst)
print(signif(table[order(-table[, "f64"]), ], 3))
used <- table(unlist(lapply(programs, `[[`, "steps")))
never <- setdiff(names(steps), c("convert", names(used)))
if (program_count >= 400L && length(never) > 0L) {
  counts[["failed"]] <- counts[["failed"]] + length(never)
  cat("steps that no program took:", never, "\n")
}
cat(sprintf(
  "note: %d operations on %d shapes and %d programs, %d with second derivatives: %s\n",
  length(steps), length(shapes), program_count, second_count, asked$note
))
cat(sprintf("counts: %d %d 0\n", counts[["passed"]], counts[["failed"]]))
quit("no", status = if (counts[["failed"]] > 0L || counts[["passed"]] == 0L) 1L else 0L)
