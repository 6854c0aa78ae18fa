# What joist finds in R code before it traces a function. The expected names are read off the code.

in_code <- function(entry, code, ...) {
  .Call(getNamespace("joist")[[paste0("joist_r_code_", entry)]], code, ...)
}

test_that("every read of a name is found", {
  reads <- function(code) in_code("reads", code)
  expect_identical(reads(quote(x)), "x")
  expect_identical(reads(1), character())
  expect_identical(reads(NULL), character())
  expect_identical(reads(quote(x + y * x)), c("+", "x", "*", "y", "x"))
  expect_identical(reads(quote(x[, 1]$a)), c("$", "[", "x", "a"))
  # The target is not read where all of it is replaced, nor is the variable of a loop.
  expect_identical(reads(quote(x <- y)), "y")
  expect_identical(reads(quote(x <<- y)), "y")
  expect_identical(reads(quote(x[i] <- y)), c("<-", "[", "x", "i", "y"))
  expect_identical(reads(quote(for (i in v) f(i))), c("for", "v", "f", "i"))
  # Quoted code may be evaluated later.
  expect_identical(reads(quote(quote(x))), c("quote", "x"))
  expect_identical(reads(quote(function(a, b = z) a)), c("function", "z", "a"))
  expect_identical(reads(quote(f(`if`)(`a b`))), c("f", "if", "a b"))
})

test_that("assigned variables are found", {
  assigned <- function(code, inner = TRUE) in_code("assigned", code, inner)
  code <- quote({
    a <- b <- 1
    c = 2 # nolint: assignment_linter.
    "d" <- 3
    names(e$f)[2] <- "x"
    for (g in 1:3) a <- g
    quote(h <- 1)
    i <<- 4
    local_function <- function(j = k <- 1) {
      l <- 5
      m <<- 6
      function() n[1] <<- 7
    }
    f(o <- 8)
    -9 -> p # nolint: assignment_linter.
    `<-`(q, 10)
    `<-`(r)
  })
  here <- c("a", "b", "c", "d", "e", "g", "a", "local_function", "o", "p", "q")
  inner <- c("m", "n", "n") # the innermost function is in two
  expect_identical(assigned(code), c(here, inner))
  expect_identical(assigned(code, FALSE), here)
  expect_identical(assigned(quote(x)), character())
  expect_identical(assigned(quote(f()[1] <- 2)), character())

  code <- quote({
    f <- function(x) x
    f <- 1
    g <- function() 2
    h[1] <- function() 3
    for (i in v) k <- i
  })
  expect_identical(in_code("whole", code, TRUE), c("f", "g"))
  expect_identical(in_code("whole", code, FALSE), c("f", "i", "k"))
})

test_that("ways to leave code are found", {
  escapes <- function(code) in_code("escapes", code)
  expect_identical(escapes(quote(if (a) break else if (b) next else return(1))), c(
    "break", "next", "return"
  ))
  expect_identical(escapes(quote(for (i in v) if (i > 1) break else return(i))), "return")
  expect_identical(escapes(quote({
    repeat break
    next
  })), "next")
  expect_identical(escapes(quote(return(if (a) break))), c("return", "break"))
  expect_identical(escapes(quote(function() return(1))), character())
  expect_identical(escapes(quote(quote(break))), character())
  expect_identical(escapes(quote(break_it(x))), character())

  always <- function(code) in_code("always_escapes", code)
  expect_true(always(quote(break)))
  expect_true(always(quote({
    x
    next
    y
  })))
  expect_true(always(quote(if (a) break else return(1))))
  expect_true(always(quote(if (a) {
    x
    break
  } else {
    return(1)
  })))
  expect_false(always(quote(if (a) break)))
  expect_false(always(quote(if (a) break else 1)))
  expect_false(always(quote(repeat break)))
  expect_false(always(quote({})))
  expect_false(always(1))
})

test_that("called functions, strings and quoting calls are found", {
  code <- quote(f(g, x$h(1), (function(y) k(y))(2), "m"(3), quote(n(4)), "o", "", ~ p("q")))
  expect_identical(in_code("called", code), c("f", "", "$", "", "(", "k", "m"))
  expect_identical(in_code("strings", code), c("o", "q"))
  expect_identical(in_code("strings", list("a")), character())
  expect_identical(in_code("strings", quote(f(c("a", "b"), NA_character_))), c("a", "b"))
  expect_true(in_code("quotes", quote(stats::sd)))
  expect_true(in_code("quotes", quote(~x)))
  expect_false(in_code("quotes", quote(f(quote(x)))))
  expect_false(in_code("quotes", quote(quote)))
})

test_that("long code is read as a whole", {
  many <- sprintf("v%d", 1:1000)
  code <- as.call(c(quote(`{`), lapply(many, function(name) call("<-", as.name(name), 1))))
  expect_identical(in_code("assigned", code, TRUE), many)
  nested <- Reduce(function(inner, name) call("f", inner, as.name(name)), many, quote(v0))
  expect_identical(in_code("reads", nested), c(rep("f", 1000), "v0", many))
})
