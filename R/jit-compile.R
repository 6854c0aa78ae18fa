#' Compile a function
#'
#' `jit()` compiles a function of tensors. The first time the compiled function is called with
#' arguments of given dtypes and shapes, it records what `f` does with them; from then on it runs
#' that program without R. Elementwise operations are fused, so that an expression moves every byte
#' once. Results have the dtype, ambiguity and bits that `f` itself gives for tensors. Whether an
#' argument has missing values (see [nv_mask()]) counts as well: `f` is recorded once for tensors
#' with and once for tensors without them, and the first program has more instructions, for the
#' masks.
#'
#' Arguments are tensors, R numbers, `NULL`, and lists of these, nested as you like. An R number
#' stays an R number in `f`: its dtype gives way to known ones and its value is exact where it meets
#' a tensor. So is what R computes of R numbers alone, such as `h / 3` of an argument `h`; returned,
#' both are an ambiguous `f64` where the rules let that yield, as those of anvil do. A `static`
#' argument may be anything; a program is recorded for each of its values. The default of an
#' argument that is left out may be anything, too: `f` evaluates it while it is traced. Tensors and
#' numbers from outside that `f` uses are constants of the program. Tensors have no value while `f`
#' is traced; `if`, `while` and `for` on them become a part of the program, see the section Control
#' flow. Functions that need a value, such as `seq_len()`, need a static argument.
#'
#' While `f` is traced, a tensor is an R vector of the type, length, `dim`, names and class that it
#' has otherwise, so that `is.numeric(x)`, `names(x)` and the like answer as they do without
#' `jit()`. Only its elements are unknown: R code that reads them is an error that names it, at the
#' latest when the trace ends, also if a handler in `f` has caught the error. Names may be others at
#' each call; where `f` looks at them, it is traced once for each set of names. A value whose
#' names depend on a condition can be computed with; reading its names, or returning it, is an
#' error: call `unname()`.
#'
#' @param f A function.
#' @param static Names of the arguments that are not traced; `f` gets their values unchanged.
#' @param cache_size The number of programs that are kept; the least recently used one is dropped
#'   first.
#' @param device The device that programs run on, see [nv_device()]: R numbers and the
#'   constants of a program are copied there, tensors must be there. `NULL` for the device of
#'   the tensors among the arguments.
#' @param promotion Promotion rules for `f`, see [promotion_rules()], regardless of the caller's
#'   rules; `NULL` for those in force when the compiled function is called.
#' @param on What to do about implicit promotion in `f`, see [with_promotion()], regardless of the
#'   caller's policy: kinds of promotion that are not named are `"ok"`. `NULL` for the policy in
#'   force when the compiled function is called; `f` is traced once for each such policy. Warnings
#'   are given while it is traced.
#' @param native Whether loops are compiled to machine code, by the compiler that R was configured
#'   with: `"auto"`, in the background, when they have run for some milliseconds, while the
#'   interpreter goes on until the code is there; `"never"`; or `"wait"`, before they run. Results
#'   have the same bits. `NULL` for the value of the environment variable `JOIST_NATIVE` or, if
#'   that is unset, `"auto"`, but `"never"` while R CMD check runs.
#' @return A function of class `joist_jit` with the arguments of `f`. Numbers that `f`
#'   returns become tensors of their default dtype. Printing it shows its programs, one
#'   line per instruction.
#' @section Control flow: `jit()` reads the code of `f`. `if` and `else`, `while`, `repeat`,
#'   `break`, `next`, `&&`, `||` and `return()` on a traced condition, and `for` over a tensor, such
#'   as [nv_seq_len()] or an argument, become branches and loops of the program, as [nv_if()],
#'   [nv_while()] and [nv_scan()] make them. `for` also goes over `seq_len(n)`, `nv_seq_len(n)` and
#'   `1:n` of a traced `n`, as a `while` that counts. The assignments of a branch or body are kept:
#'   variables, elements (`x[i] <- v`, also for a traced `i`) and nested lists. The same holds for
#'   the user's functions that `f` calls, and for functions given to [gradient()] or to joist's
#'   loops, but not for functions of base R and its recommended packages.
#'
#'   Conditions on R values, and loops over R vectors, are R's: `for (k in 1:10)` is unrolled, and a
#'   message of class `joist_unrolled_message` mentions, once for each compiled function, a loop of
#'   more than 1,000 instructions. `for` over a matrix goes over its elements.
#'
#'   A variable keeps its shape and dtype in all iterations. One that starts as an R number takes
#'   the dtype that the body gives it, and is exact: `s <- 0` becomes `f64` where `f64` is added.
#'   The values of two branches have a common dtype, and R doubles among themselves are an
#'   ambiguous `f64`; what is an R integer or a double, by the branch, has no type that `f` may ask
#'   for or return. A condition is one TRUE or FALSE; one that is missing is R's error when the
#'   program comes to it. Traced positions choose elements of R vectors, `w[k]`, and of lists whose
#'   elements are alike, `l[[k]]`. `switch()` and
#'   `on.exit()` cannot depend on a traced condition. After a loop without iterations all variables
#'   are as before, that of `for` as well; if a variable that gets its first value in the loop is
#'   used afterwards, the program stops with an error that names it.
#' @section Traced code is R: A compiled function gives what the plain function gives: values,
#'   dtypes and names. Each question that code asks of a value is answered as in the plain run, or
#'   is an error that names the question. Each effect happens when the plain run would have it, or
#'   is an error that names it. Errors and warnings of a branch or loop are raised if the program
#'   takes it. What differs is in this table:
#'
#'   | Code | Compiled |
#'   |---|---|
#'   | A result that is an R number or flag | a tensor of its default dtype, or `f64?` |
#'   | An R number in one branch, a tensor in another | a tensor; `is_tensor()` of it is an error |
#'   | A scalar in one branch, one element in another | one element, if the rules allow |
#'   | `v` of `for (v in x)` | an element of `x` (a warning, if R lacks its dtype), not a number |
#'   | R integers that overflow, `k %/% 0L` | an error, not `NA` |
#'   | `w[k]` of an R vector, `k` beyond its end, 0 or negative | an error that names `w` |
#'   | Comparisons of R doubles that are NaN | FALSE, as of tensors, not `NA` |
#'   | Warnings of R's own functions of R numbers, as of `sqrt(-1)` | none |
#'   | Effects outside of branches and loops | once a program, not in each call |
#'   | Files and plots in a branch or loop | while the program is recorded |
#'   | Arguments that a branch or loop may read | computed before it |
#'   | The class of an R number, for functions of R | that of a tensor |
#' @section Effects: What a branch or body changes is changed where the program comes to it,
#'   wherever the code stands that does so: variables that a helper assigns by `<<-` or `assign()`,
#'   and those of environments and objects, such as `self$n`, that are made while the function is
#'   traced. A change of what was there before, such as a global variable, is an error: return the
#'   value instead. Functions given to [nv_while()] and the like change nothing. `stop()`,
#'   `stopifnot()`, `warning()` and `message()` in a branch or body signal their conditions when
#'   the program comes to them; there, no `tryCatch()` of the traced function can handle them. R's
#'   random numbers, `print()`, `cat()` and clocks are errors in a branch or body; [nv_rnorm()]
#'   with a key and [nv_print()] can be part of it. What else has effects, such as writing files or
#'   plotting, happens once, while a branch or body is traced, or more often, until the types of a
#'   loop are known; outside of branches and bodies so does everything, as in
#'   `count <<- count + 1`: once for each program, not in each call.
#' @section Machine code: Loops, and expressions of several operations on wide arrays, are compiled
#'   when they have run for some milliseconds and are called again, or have run for a tenth of a
#'   second: as C, which `program(f, what = "c")` shows, by a compiler that runs beside R. Files are
#'   in `tempdir()`, or in the folder that the environment variable `JOIST_NATIVE_CACHE` names,
#'   where later sessions find them; others who can write to that folder can have your session run
#'   their code. Workers on the same machine use the files of the session. Without a compiler,
#'   where compiling fails, and where the folder may not hold programs (`noexec`), the interpreter
#'   runs the program; [joist_info()] says why.
#' @section Errors: Those of `f`. `joist_trace_error` (also of class `joist_value_error`) for
#'   functions of R that need the values of a traced tensor, such as `cat()` and `dnorm()` (call
#'   [nv_dnorm()] instead), and for control flow that cannot be traced: a condition of several
#'   elements, a variable whose shape or dtype changes in a loop (also `joist_shape_error` or
#'   `joist_promotion_error`), a variable that is used but has a value in one branch only. The
#'   message names the variable, the code and, if `f` has kept its source, the line. An operation
#'   whose result is not used is not run, so it reports no error about its elements, such as integer
#'   division by zero.
#' @examples
#' f <- jit(function(x, y) {
#'   z <- x + 1L
#'   z * y
#' })
#' f(nv_scalar(TRUE), nv_scalar(2L, dtype = "i16"))
#' f
#' f(nv_tensor(c(3, NA), "ui8"), 2L)
#' jit(\() list(1L, 1.0, TRUE))()
#'
#' # R's own control flow
#' newton <- jit(function(x) {
#'   y <- x
#'   repeat {
#'     better <- (y + x / y) / 2
#'     if (abs(better - y) < 1e-12) return(better)
#'     y <- better
#'   }
#' })
#' newton(nv_scalar(2, "f64"))
#' walk <- jit(function(steps) {
#'   position <- numeric(5)
#'   for (t in nv_seq_len(5)) {
#'     position[t] <- if (t > 1L) position[t - 1L] + steps[t] else steps[t]
#'   }
#'   position
#' })
#' walk(nv_tensor(c(1, -1, 1, 1, 1), "f64"))
#' @export
jit <- function(f, static = character(), cache_size = 100L, device = NULL, promotion = NULL,
                on = NULL, native = NULL) {
  force(f)
  f <- as_function(match.fun(f), "f")
  if (!is.null(device)) device <- format(nv_device(device))
  if (!is.null(promotion)) promotion_rules(promotion)
  policy <- promotion_policy(on)
  arguments <- formals(args(f))
  if (!is.character(static) || anyNA(static)) {
    stop_joist("joist_value_error", "`static` must be names of arguments")
  }
  unknown <- setdiff(static, names(arguments))
  if (length(unknown) > 0L && !"..." %of% names(arguments)) {
    stop_joist("joist_value_error", "`static`: the function has no argument ", unknown[1L])
  }
  state <- .Call(joist_r_jit_state, cache_size, native)
  compiled <- function() NULL
  formals(compiled) <- arguments
  body(compiled) <- jit_body(arguments)
  environment(compiled) <- list2env(
    list(
      .jit_run = jit_run, .jit_state = state, .jit_function = f,
      .jit_static = static, .jit_promotion = promotion, .jit_policy = policy, .jit_device = device,
      .jit_notes = new.env(parent = emptyenv())
    ),
    parent = topenv()
  )
  structure(compiled, class = "joist_jit")
}

# A call that has a program is one .Call, unless a static argument is a list or an environment. The
# names of variables here must not be those of arguments.
jit_body <- function(arguments) {
  body <- compiled_run
  body[[2L]][[3L]] <- collected_arguments(arguments)
  body
}

traced_run <- quote(.jit_run(
  .jit_state, .jit_function, .jit_arguments, .jit_static, .jit_promotion, .jit_policy,
  .jit_device, .jit_notes
))

compiled_run <- call(
  "{", quote(.jit_arguments <- NULL),
  quote(.jit_out <- .Call(
    joist_r_jit_call, .jit_state, .jit_arguments, .jit_static, .jit_promotion, .jit_policy,
    .jit_device
  )),
  call("if", quote(is.logical(.jit_out) && !is.object(.jit_out)), traced_run, quote(.jit_out))
)

# list(x = x, ...) for the arguments of the function. One that has no value is left out: its
# default, which may be a flag or look at other arguments, is for `f` to evaluate.
collected_arguments <- function(arguments) {
  names <- names(arguments)
  own <- names != "..."
  values <- lapply(names, as.name)
  names(values) <- names
  names(values)[!own] <- ""
  collected <- as.call(c(quote(list), values))
  if (!any(own)) {
    return(collected)
  }
  is_missing <- lapply(values, function(value) call("missing", value))
  parts <- lapply(seq_along(values), function(k) {
    part <- as.call(c(quote(list), values[k]))
    if (own[k]) call("if", call("!", is_missing[[k]]), part) else part
  })
  any_missing <- Reduce(function(a, b) call("||", a, b), is_missing[own])
  call("if", any_missing, as.call(c(quote(c), parts)), collected)
}

jit_run <- function(state, f, arguments, static, promotion, policy, device, notes) {
  force(arguments) # not within a method for %in%, which would take the class from an error
  fixed <- if (length(static) > 0L) names(arguments) %of% static
  dynamic <- if (!is.null(fixed)) !fixed
  known <- arguments
  for (k in seq_along(known)[fixed]) {
    if (is.list(known[[k]]) || is.environment(known[[k]])) known[[k]] <- content_of(known[[k]])
  }
  out <- .Call(joist_r_jit_call, state, known, dynamic, promotion, policy, device)
  if (!is_answer(out)) {
    return(out)
  }
  depth <- set_promotion(promotion, policy)
  on.exit(restore_promotion(depth))
  if (!out) {
    return(call_eagerly(f, arguments))
  }
  # A call site is warned about once in each trace.
  if (!is.null(policy)) rm(list = ls(policy[[2L]], all.names = TRUE), envir = policy[[2L]])
  functions <- vapply(arguments, is.function, NA)
  given <- arguments
  given[functions] <- lapply(given[functions], rewritten)
  compiled <- jit_trace(rewritten(f), given, dynamic, notes)
  out <- .Call(joist_r_jit_run, state, compiled, known, dynamic, promotion, policy, device)
  if (is_answer(out)) call_eagerly(f, arguments) else out
}

# What a static argument is compared by: of environments, which may change, what is in them now.
content_of <- function(x) {
  seen <- list()
  has_own <- function(x) {
    is.environment(x) || is.list(x) && any(vapply(unclass(x), has_own, NA))
  }
  content <- function(x) {
    if (!has_own(x) || identical(x, globalenv()) || isNamespace(x)) {
      return(x)
    }
    if (is.environment(x)) {
      for (k in seq_along(seen)) if (identical(seen[[k]], x)) return(k)
      seen <<- c(seen, list(x))
      x <- list(attributes(x), as.list.environment(x, all.names = TRUE, sorted = TRUE))
    }
    list(attributes(x), lapply(unclass(x), content))
  }
  content(x)
}

# Calls `f` within a trace, or with R numbers that do not fit the dtypes of the program. If that
# succeeds, `f` returns R numbers, which must fit the dtypes, too, as results of a program.
call_eagerly <- function(f, arguments) {
  if (is_tracing()) {
    return(call_function(rewritten(f), arguments))
  }
  as_result(call_function(f, arguments))
}

as_result <- function(x) {
  if (is.list(x) && !is.object(x)) {
    x[] <- lapply(x, as_result)
    return(x)
  }
  if (is.null(x)) NULL else as_operand(x)
}

# Arguments by their names: in what `f` signals there are neither their values nor its source.
call_function <- function(f, arguments) {
  named <- names(arguments)
  symbols <- sprintf(".joist_argument%d", seq_along(arguments)) # see line_labels()
  if (!is.null(named)) symbols[nzchar(named)] <- named[nzchar(named)]
  around <- list2env(list(jitted = f), parent = emptyenv())
  frame <- list2env(stats::setNames(arguments, symbols), parent = around)
  own <- if ("jitted" %of% symbols) f else quote(jitted)
  check_value(eval(as.call(c(own, stats::setNames(lapply(symbols, as.name), named))), frame))
}

# The function that match.fun() found, in the form that is traced; see as_function().
traceable <- function(found, name) rewritten(as_function(found, name))

# What is current, as C has it: the depth of the stack of sessions, the trace under way, and so on.
session <- function() .Call(joist_r_session_view)

is_tracing <- function() !is.null(session()$trace)

# Evaluates `expr` in the session that `push` pushes, which is popped at the end, also after an
# error or an interrupt.
in_session <- function(push, expr) {
  depth <- session()$depth
  on.exit(.Call(joist_r_pop_sessions, depth))
  push
  expr
}

jit_trace <- function(f, arguments, dynamic, notes = NULL) {
  new <- list(notes = notes, first = sys.nframe(), traced = f, outer = NULL)
  new <- c(new, list(frames = list(), failure = NULL, doubts = FALSE))
  old <- mget(names(new), flow)
  on.exit(list2env(old, flow))
  list2env(new, flow)
  trace <- .Call(joist_r_trace_begin, arguments, dynamic, NULL)
  depth <- session()$depth
  on.exit(.Call(joist_r_pop_sessions, depth), add = TRUE)
  .Call(joist_r_push_trace, trace[[1L]], FALSE, sys.nframe())
  result <- withCallingHandlers(call_function(f, trace[[2L]]), error = explain_error)
  if (!is.null(flow$failure)) stop(flow$failure)
  check_not_mixed(result)
  result <- with_numbers_in_full(result)
  tryCatch(.Call(joist_r_trace_end, trace[[1L]], result, NULL), joist_value_error = function(e) {
    at <- first_misfit(result)
    if (!is.null(at)) e$message <- paste0("the result", at, " of the function: ", e$message)
    stop(e)
  })
}

# Doubles of R among results are what R has: those that are arguments or computed, and those that
# their default dtype does not hold.
with_numbers_in_full <- function(x) {
  if (is.list(x) && !is.object(x)) {
    x[] <- lapply(x, with_numbers_in_full)
  } else if (is_double(x) && (is.object(x) || is_rounded(x))) {
    x <- carried_number(x)
  }
  x
}

is_rounded <- function(x) {
  held <- tryCatch(as_array(as_operand(x), "double"), joist_value_error = function(e) NULL)
  !identical(as.vector(held), as.vector(unname(x)))
}

is_result <- function(x) {
  is.null(x) || is_tensor(x) || !inherits(try(as_operand(x), silent = TRUE), "try-error")
}

# The first element of nested lists that is neither a tensor nor an array of numbers.
first_misfit <- function(x, at = "", fits = is_result) {
  if (!is.list(x) || is.object(x)) {
    return(if (!fits(x)) at)
  }
  for (k in seq_along(x)) {
    name <- names(x)[k]
    index <- if (is.null(name) || !nzchar(name)) paste0("[[", k, "]]") else paste0("$", name)
    found <- first_misfit(x[[k]], paste0(at, index), fits)
    if (!is.null(found)) {
      return(found)
    }
  }
}

# The function of joist that computes what one of base R or stats does for numbers alone; NULL if
# there is none.
counterpart <- function(name) {
  others <- c(plogis = "nv_logistic", psigamma = "nv_polygamma")
  if (name %of% names(others)) {
    return(others[[name]])
  }
  own <- paste0("nv_", name)
  numeric <- grepl("^[dpq]", name) && exists(name, asNamespace("stats"), inherits = FALSE)
  if ((numeric || name %of% c("beta", "lbeta")) && own %of% getNamespaceExports(topenv())) own
}

trace_condition <- function(call, message) {
  structure(
    class = c("joist_trace_error", "joist_value_error", "joist_error", "error", "condition"),
    list(message = message, call = call)
  )
}

#' @export
print.joist_jit <- function(x, ...) {
  state <- environment(x)
  programs <- .Call(joist_r_jit_programs, state$.jit_state)
  cat("<jit function of (", paste(names(formals(x)), collapse = ", "), "), ", length(programs),
    " program", if (length(programs) != 1L) "s", ">\n",
    sep = ""
  )
  for (program in programs) {
    print(structure(list(compiled = program), class = "joist_program"))
  }
  invisible(x)
}

# C returns one of these instead of a result: TRUE if no program for these arguments is cached,
# FALSE if R has to run the function. A bool tensor is a result.
is_answer <- function(out) is.logical(out) && !is.object(out)
