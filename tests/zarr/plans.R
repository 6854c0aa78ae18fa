# The same bits by every plan() of the package future: computed and stored, sequentially, by 2
# workers of multisession, by 2 over sockets, by 2 daemons of mirai, and by Slurm.
#
#   Rscript tests/zarr/plans.R [PLAN...]
#   sh tests/zarr/slurm.sh Rscript tests/zarr/plans.R slurm srun
#
# PLAN is multisession, sockets (both by default), mirai, slurm (jobs of future.batchtools) or srun
# (workers over sockets that srun started).

suppressPackageStartupMessages(library(joist))

plans <- commandArgs(TRUE)
if (length(plans) == 0L) plans <- c("multisession", "sockets")
if ("slurm" %in% plans && !requireNamespace("future.batchtools", quietly = TRUE)) {
  cat("note: no future.batchtools\n")
  quit(status = 77L)
}
folder <- tempfile("plans")
dir.create(folder)

x <- nv_zarr_create(file.path(folder, "x"), "f32", c(350, 60), c(100, 30), codecs = "gzip")
x[] <- nv_rnorm(c(350L, 60L), key = nv_key(8), dtype = "f32")
memory <- x[]
values <- as_array(memory, "double")
programs <- list(
  elementwise = function(x) exp(sin(x)) / (1 + x * x),
  standardized = function(x) (x - nv_mean(x, 1, FALSE)) / nv_sd(x, 1, FALSE),
  gram = function(x) nv_crossprod(x),
  sums = function(x) nv_reduce_sum(exp(x), 1),
  mean = function(x) nv_mean(x),
  quantiles = function(x) nv_quantile(x, c(0, 0.1, 0.5, 1))
)
by_hand <- list(
  elementwise = exp(sin(values)) / (1 + values^2), standardized = unname(scale(values)),
  gram = crossprod(values), sums = colSums(exp(values)), mean = mean(values),
  quantiles = unname(quantile(values, c(0, 0.1, 0.5, 1)))
)

# Each program computed, and stored in chunks that are not those of `x`.
all_results <- function(stage) {
  lapply(stats::setNames(nm = names(programs)), function(name) {
    lazy <- programs[[name]](x)
    got <- nv_compute(lazy)
    path <- file.path(folder, paste0(stage, "-", name))
    stored <- nv_store(lazy, path, chunks = pmin(shape(got), 30L))[]
    list(got, nv_convert(stored, dtype(stored), ambiguous(got)))
  })
}

counts <- c(0L, 0L)
say <- function(stage, wrong, seconds) {
  counts <<- counts + c(2L * length(programs) - length(wrong), length(wrong))
  verdict <- if (length(wrong) == 0L) "same bits" else paste("WRONG:", toString(wrong))
  cat(sprintf("%-14s %6.1f s  %s\n", stage, seconds, verdict))
}
seconds <- system.time(alone <- all_results("sequential"))[[3L]]
close_enough <- mapply(function(got, wanted) {
  as_plain <- function(one) as_array(one, "double") + 0
  same <- function(one) {
    isTRUE(all.equal(as_plain(one), wanted, tolerance = 1e-5, check.attributes = FALSE))
  }
  same(got[[1L]]) && same(got[[2L]])
}, alone, by_hand)
exact <- c("elementwise", "quantiles")
whole <- vapply(exact, function(name) {
  identical(alone[[name]][[1L]], programs[[name]](memory))
}, TRUE)
say("sequential", c(names(which(!close_enough)), names(which(!whole))), seconds)

# Each gives the cluster that is to be stopped, if any.
start <- list(
  multisession = function() {
    future::plan(future::multisession, workers = 2L)
    NULL
  },
  sockets = function() {
    future::plan(future::cluster, workers = c("localhost", "localhost"))
    NULL
  },
  mirai = function() {
    mirai::daemons(2L)
    NULL
  },
  srun = function() {
    cluster <- parallelly::makeClusterPSOCK(
      2L,
      rscript = c("srun", "--ntasks=1", "--cpus-per-task=1", file.path(R.home("bin"), "Rscript")),
      default_packages = NULL, setup_strategy = "sequential"
    )
    future::plan(future::cluster, workers = cluster)
    cluster
  },
  slurm = function() {
    template <- file.path(folder, "slurm.tmpl")
    writeLines(c(
      "#!/bin/sh",
      "#SBATCH --job-name=joist --ntasks=1 --cpus-per-task=1",
      "#SBATCH --output=<%= log.file %>",
      "exec Rscript -e 'batchtools::doJobCollection(\"<%= uri %>\")'"
    ), template)
    options(future.cache.path = file.path(folder, "jobs"))
    if (Sys.getenv("USER") == "") Sys.setenv(USER = Sys.info()[["user"]])
    future::plan(future.batchtools::batchtools_slurm, template = template, workers = 2L)
    NULL
  }
)
options(joist.alone = 0) # nothing is computed here
for (name in plans) {
  cluster <- start[[name]]()
  seconds <- system.time(got <- all_results(name))[[3L]]
  future::plan(future::sequential)
  if (name == "mirai") mirai::daemons(0L)
  if (!is.null(cluster)) parallel::stopCluster(cluster)
  say(name, names(which(!mapply(identical, got, alone))), seconds)
}
unlink(folder, recursive = TRUE)
cat(sprintf("counts: %d %d 0\n", counts[1L], counts[2L]))
if (counts[2L] > 0L) quit(status = 1L)
