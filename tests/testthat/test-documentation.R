# The manual of the installed package: every exported function has a page that says what it
# gives, of which dtype, what it raises and how to call it; and what the pages say of errors
# and dtypes is what happens.

manual <- function() {
  pages <- tryCatch(tools::Rd_db("joist"), error = function(e) NULL)
  if (length(pages) == 0L) skip("joist is installed without its manual")
  names(pages) <- sub("[.]Rd$", "", names(pages))
  lapply(pages, function(page) {
    list(
      aliases = texts(page, "\\alias"), value = texts(page, "\\value"),
      examples = texts(page, "\\examples"), errors = errors_section(page),
      arguments = argument_names(page)
    )
  })
}

parts_of <- function(page, tag) Filter(function(part) identical(attr(part, "Rd_tag"), tag), page)

all_parts <- function(part, tag) {
  inside <- if (is.list(part)) unlist(lapply(part, all_parts, tag), recursive = FALSE)
  c(if (identical(attr(part, "Rd_tag"), tag)) list(part), inside)
}

flat <- function(part) trimws(gsub("[[:space:]]+", " ", paste(unlist(part), collapse = "")))

texts <- function(page, tag) vapply(parts_of(page, tag), flat, "")

errors_section <- function(page) {
  sections <- Filter(function(s) flat(s[[1L]]) == "Errors", parts_of(page, "\\section"))
  vapply(sections, function(s) flat(s[[2L]]), "")
}

argument_names <- function(page) {
  items <- unlist(lapply(parts_of(page, "\\arguments"), parts_of, "\\item"), recursive = FALSE)
  names <- vapply(items, function(item) flat(gsub("\\dots", "...", item[[1L]], fixed = TRUE)), "")
  unlist(strsplit(names, "[[:space:]]*,[[:space:]]*"))
}

classes_in <- function(text) {
  unique(unlist(regmatches(text, gregexpr("joist_[a-z_]+_error", text))))
}

# The page of each exported function; a function without one is left out.
pages_of_exports <- function(pages) {
  aliases <- lapply(pages, `[[`, "aliases")
  page_of <- rep(names(pages), lengths(aliases))
  names(page_of) <- unlist(aliases)
  page_of[intersect(own_exports(), names(page_of))]
}

# Functions that raise nothing of their own.
raise_nothing <- c(
  "cuda_diagnostics", "joist_info", "nv_is_finite", "nv_is_infinite", "nv_is_nan"
)

# Pages of functions that return no tensor and therefore name no dtype.
give_no_tensor <- c(
  "check_gradient", "cuda_diagnostics", "joist_info", "nv_memory",
  "nv_set_threads", "nv_write_gguf", "nv_zarr_store", "promotion_explorer", "promotion_lattice",
  "promotion_rules_new", "promotion_table", "with_default_dtypes", "with_promotion"
)

test_that("every exported function has a page with value, errors, examples and arguments", {
  pages <- manual()
  page_of <- pages_of_exports(pages)
  expect_setequal(names(page_of), own_exports())
  generics <- setdiff(getNamespaceExports("joist"), own_exports())
  generics <- generics[!startsWith(generics, ".__")]
  aliases <- grep("-method$", pages$base_functions$aliases, value = TRUE)
  # From R 4.4 on crossprod() and tcrossprod() need none.
  needless <- if (getRversion() >= "4.4.0") grepl("^t?crossprod,", aliases) else FALSE
  expect_setequal(aliases[!needless], asNamespace("joist")$base_method_aliases())
  methods <- sub(",.*", "", aliases)
  expect_setequal(c("%*%", methods), union(c("%*%", "crossprod", "tcrossprod"), generics))
  without <- function(field) {
    names(page_of)[vapply(page_of, function(p) !any(nzchar(pages[[p]][[field]])), TRUE)]
  }
  expect_identical(without("value"), character())
  expect_identical(without("examples"), character())
  expect_setequal(without("errors"), intersect(raise_nothing, names(page_of)))

  undocumented <- lapply(names(page_of), function(name) {
    arguments <- names(formals(getExportedValue("joist", name)))
    missing <- setdiff(arguments, pages[[page_of[[name]]]]$arguments)
    if (length(missing)) paste0(name, "(", paste(missing, collapse = ", "), ")")
  })
  expect_identical(unlist(undocumented), NULL)
})

test_that("the value of a function that gives tensors names their dtype", {
  pages <- manual()
  dtype_words <- "dtype|`?(bool|i32|i64|ui32)`?|`?as_array|logical;|`TRUE` for tensors"
  page_of <- unique(pages_of_exports(pages))
  tells <- vapply(pages[page_of], function(page) any(grepl(dtype_words, page$value)), TRUE)
  expect_identical(sort(unname(page_of[!tells])), sort(give_no_tensor))
})

test_that("pages tell the errors that the table of operations states", {
  manual()
  pages <- tools::Rd_db("joist")
  ns <- asNamespace("joist")
  expect_told <- function(page, text) {
    expect_match(flat(pages[[paste0(page, ".Rd")]]), gsub("`", "", text), fixed = TRUE)
  }
  expect_told("nv_add", ns$stated_error("pow"))
  expect_told("nv_add", ns$stated_error("atan2"))
  expect_told("nv_negate", ns$stated_error("abs"))
  expect_told("nv_real", ns$stated_error("arg"))
  expect_told("nv_sqrt", ns$stated_errors(ns$elementary_functions()))
  expect_told("nv_erf", ns$stated_errors(ns$special_functions))
})

test_that("the page of the package leads to every other page", {
  pages <- manual()
  overview <- tools::Rd_db("joist")[["joist-package.Rd"]]
  others <- pages[names(pages) != "joist-package"]
  targets <- unlist(lapply(all_parts(overview, "\\link"), function(link) {
    sub("^=", "", c(flat(link), flat(attr(link, "Rd_option"))))
  }))
  reached <- vapply(others, function(page) any(page$aliases %in% targets), TRUE)
  expect_identical(names(others)[!reached], character())
})

test_that("usage sections and arguments agree with the code", {
  manual()
  library <- dirname(find.package("joist"))
  expect_length(unlist(tools::undoc("joist", lib.loc = library)), 0L)
  expect_length(unclass(tools::codoc("joist", lib.loc = library)), 0L)
  expect_length(unclass(tools::checkDocFiles("joist", lib.loc = library)), 0L)
  expect_length(unlist(tools::checkDocStyle("joist", lib.loc = library)), 0L)
})

# The claims and the tensors they are about, with fresh variables for every call.
claims <- function() {
  env <- new.env(parent = environment(manual))
  sys.source(test_path("documented-claims.R"), env)
  env
}

# What `check` says of each claim (a page, what is claimed, and the call), NULL if it holds.
broken_claims <- function(claimed, env, check) {
  unlist(lapply(names(claimed), function(page) {
    calls <- as.list(claimed[[page]])[-1L]
    Map(function(claim, call) {
      wrong <- check(claim, call, new.env(parent = env))
      if (!is.null(wrong)) paste0(page, ": ", deparse1(call), wrong)
    }, names(calls), calls)
  }), use.names = FALSE)
}

test_that("pages name the errors that there are, and no others", {
  pages <- manual()
  pages[["joist-package"]] <- NULL
  env <- claims()
  expect_null(broken_claims(env$raised_errors, env, function(class, call, frame) {
    error <- suppressWarnings(tryCatch(eval(call, frame), error = identity))
    if (!inherits(error, class) || !inherits(error, "joist_error")) {
      paste0(" raises no ", class)
    }
  }))
  tried <- lapply(env$raised_errors, function(calls) sort(unique(names(as.list(calls)[-1L]))))
  named <- lapply(pages, function(page) sort(classes_in(page$errors)))
  expect_identical(tried[lengths(tried) > 0L], named[names(tried)[lengths(tried) > 0L]])
  expect_identical(setdiff(names(named)[lengths(named) > 0L], names(tried)), character())
})

test_that("results have the dtypes that the pages tell", {
  pages <- manual()
  env <- claims()
  local_promotion("anvil")
  expect_identical(setdiff(names(env$given_dtypes), names(pages)), character())
  expect_null(broken_claims(env$given_dtypes, env, function(dtype, call, frame) {
    got <- type_of(eval(call, frame))
    if (got != dtype) paste0(" is ", got, ", not ", dtype)
  }))
})
