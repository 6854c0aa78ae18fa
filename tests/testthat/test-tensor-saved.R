# What versions of joist saved is read for ever: a file of each in saved/, by saved/write.R.
for (file in list.files(test_path("saved"), "[.]rds$", full.names = TRUE)) {
  saved <- readRDS(file)
  version <- sub("[.]rds$", "", basename(file))

  test_that(paste("tensors of version", version, "are what they were"), {
    # 0.1.0 had none of up to a byte, and these have no complex numbers of 32 bits.
    known <- setdiff(dtypes(), c("c32", "bc32"))
    expect_setequal(names(saved$tensors), if (version == "0.1.0") wide(known) else known)
    for (case in saved$tensors) {
      x <- case$tensor
      expect_identical(format(dtype(x)), case$dtype)
      expect_identical(shape(x), dim(case$value))
      got <- as_array(x, as = typeof(case$value))
      expect_identical(c(got), c(case$value), label = case$dtype)
      expect_identical(x, nv_tensor(case$value, case$dtype), label = case$dtype)
      expect_identical(as.vector(x == nv_tensor(case$value, case$dtype)), !is.nan(c(case$value)))
    }
    expect_identical(as_array(saved$long), 1:10000)
    expect_identical(as_array(saved$long + 1L), 2:10001)
    expect_length(saved$none, 0L)
    expect_identical(c(as_array(saved$scalar)), 2.5)
    expect_identical(shape(saved$scalar), integer())
    expect_identical(type_of(saved$ambiguous), "f32?")
    expect_identical(as.vector(saved$ambiguous), 0.5)
    expect_identical(as.vector(saved$frame$x * 2), c(1, 2))
    expect_identical(saved$frame$id, 1:2)
    expect_identical(nv_runif(3, key = saved$key), nv_runif(3, key = nv_key(7)))
  })

  test_that(paste("abstract tensors and facts of version", version, "are what they were"), {
    for (dtype in names(saved$avals)) {
      expect_identical(saved$avals[[dtype]], nv_aval(dtype, c(2, 3)))
    }
    expect_identical(type_of(saved$guess), "f32?")
    expect_identical(vapply(saved$dtypes, format, ""), names(saved$tensors))
    for (dtype in saved$dtypes) expect_identical(dtype, as_dtype(format(dtype)))
    expect_identical(saved$device, nv_device())
    numpy <- with_promotion("numpy", nv_tensor(1L, "i8") + nv_tensor(1, "f16"))
    if (version == "0.1.0") { # of lattices of fewer dtypes: rules are made again
      for (rules in list(saved$rules, saved$own)) {
        expect_error(common_dtype("bool", "i16", rules = rules), "another version",
          class = "joist_promotion_error"
        )
      }
    } else {
      sum <- with_promotion(saved$rules, nv_tensor(1L, "i8") + nv_tensor(1, "f16"))
      expect_identical(sum, numpy)
      expect_identical(format(common_dtype("bool", "i16", rules = saved$own)$dtype), "i16")
      expect_error(common_dtype("i16", "f32", rules = saved$own), class = "joist_promotion_error")
    }
    expect_identical(c(saved$table), c(promotion_table("jax")))
    expect_output(print(saved$explanation), "i16")
    expect_output(print(saved$info), "joist")
  })

  test_that(paste("functions and programs of version", version, "are what they were"), {
    expect_identical(as.vector(saved$jit(nv_tensor(c(1, 2)), n = 3L)), 8)
    expect_identical(as.vector(saved$jit(nv_tensor(c(2, 2), "f64"))), 10)
    expect_error(print(saved$program), "cannot be saved", class = "joist_value_error")
  })
}
