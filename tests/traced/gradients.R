# Gradients of random R programs, beside differences of the plain run.
#
#   R -f tests/traced/gradients.R --args [PROGRAMS [SEED [SHOWN [FRESH]]]]
#
# The programs, and the arguments of this script, are those of programs.R. A number is made of all
# that a program returns, and its derivative in two random directions is compared with central
# differences of two steps, which must agree with each other and with those to both sides:
# elsewhere the program has a kink or jump near by. As in programs.R, a joist error that names
# something in the program does not count as a failure.
suppressMessages(library(joist))
source("tests/testthat/helper-random_traced.R")
traced_classes()
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
given <- function(k, otherwise) if (length(arguments) < k) otherwise else arguments[k]
programs <- given(1, 300)
seed <- given(2, 1)
left <- given(3, 5)
invisible(compiler::enableJIT(0L))
Sys.setenv(JOIST_NATIVE = "never")
fresh <- given(4, 0)
start <- floor(as.numeric(Sys.time()) * 10) %% 2e9
if (fresh > 0) cat(sprintf("fresh seeds from %.0f on\n", start))
seeds <- c(seed + seq_len(programs), start + seq_len(fresh) - 1)

# A number of all numbers in a result.
total_of <- function(value, weight = 1) {
  if (is.null(value) || is.character(value) || is.function(value) || is.environment(value)) {
    return(0)
  }
  if (!is.list(value)) {
    return(sum(value * weight) + sum(value * value) / 8)
  }
  total <- 0
  for (k in seq_along(value)) total <- total + total_of(value[[k]], weight + k / 3)
  total
}

wrt <- c("x", "y", "s", "m")

loss_of <- function(program) {
  f <- program$make()$f
  function(x, y, s, m, i) total_of(f(x, y, s, i, m))
}

# The value of the plain run, a number; NULL after an error.
plain_value <- function(program, given) {
  setTimeLimit(cpu = 5, transient = TRUE)
  on.exit(setTimeLimit())
  value <- tryCatch(
    suppressMessages(suppressWarnings(as.numeric(do.call(loss_of(program), given)))),
    error = function(e) NULL
  )
  if (length(value) == 1L && is.finite(value)) value
}

moved <- function(given, direction, step) {
  given[wrt] <- Map(function(x, by) x + by * step, given[wrt], direction)
  given
}

# NULL where the plain run has no derivative that differences show.
difference <- function(program, given, direction) {
  value <- plain_value(program, given)
  if (is.null(value)) {
    return(NULL)
  }
  slopes <- NULL
  for (step in c(1e-5, 2e-6)) {
    up <- plain_value(program, moved(given, direction, step))
    down <- plain_value(program, moved(given, direction, -step))
    if (is.null(up) || is.null(down)) {
      return(NULL)
    }
    slopes <- c(slopes, (up - down) / (2 * step), (up - value) / step, (value - down) / step)
  }
  size <- 1 + max(abs(slopes)) + abs(value) * 1e-4
  if (max(slopes) - min(slopes) < 1e-3 * size) list(slope = slopes[1L], size = size)
}

gradient_verdict <- function(program) {
  given <- traced_arguments(program$seed)[[1L]][c(wrt, "i")]
  # Away from ties, which the arguments of programs have many of.
  random <- function(x, most) nv_tensor(runif(length(x), -most, most), "f64", shape(x))
  given[wrt] <- lapply(given[wrt], function(x) x + random(x, 0.1))
  directions <- replicate(2L, lapply(given[wrt], random, 1), simplify = FALSE)
  verdict <- function(kind, got = NULL, slope = NULL) list(kind = kind, got = got, slope = slope)
  expected <- lapply(directions, function(direction) difference(program, given, direction))
  if (any(lengths(expected) == 0L)) {
    return(verdict("failing"))
  }
  setTimeLimit(cpu = 20, transient = TRUE)
  on.exit(setTimeLimit())
  got <- tryCatch(
    suppressMessages(suppressWarnings(do.call(gradient(loss_of(program), wrt = wrt), given))),
    error = identity
  )
  if (inherits(got, "error")) {
    return(verdict(if (traced_refusal(got, program)) "refused" else "unreadable", got))
  }
  for (k in seq_along(directions)) {
    slope <- sum(mapply(function(g, by) as.numeric(sum(g * by)), got[wrt], directions[[k]]))
    if (!isTRUE(abs(slope - expected[[k]]$slope) < 5e-3 * expected[[k]]$size)) {
      return(verdict("silent", slope, expected[[k]]$slope))
    }
  }
  verdict("agree")
}

kinds <- vapply(seeds, function(seed) {
  program <- traced_program(seed)
  found <- gradient_verdict(program)
  if (found$kind %in% c("silent", "unreadable") && left > 0) {
    left <<- left - 1
    cat(
      found$kind, ", seed ", seed, "\n", program$f, "\ndifference: ", format(found$slope),
      "\ngradient: ",
      if (inherits(found$got, "error")) conditionMessage(found$got) else format(found$got), "\n\n",
      sep = ""
    )
  }
  found$kind
}, "")
counted <- table(factor(kinds, c("agree", "refused", "failing", "silent", "unreadable")))
failed <- sum(counted[c("silent", "unreadable")])
summary <- paste(counted, names(counted), collapse = ", ")
cat(sprintf("\nnote: gradients of %d random programs: %s\n", length(seeds), summary))
cat(sprintf("counts: %d %d 0\n", length(seeds) - failed, failed))
quit("no", status = if (failed > 0L) 1L else 0L)
