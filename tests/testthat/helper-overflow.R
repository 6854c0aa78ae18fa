# Many tests compute with integers that wrap. Those of warnings about it ask for them.
local_promotion(NULL, globalenv(), on = c(overflow = "ok"))

# Evaluates `expr` under the policy that users have who set none.
by_default <- function(expr) {
  old <- joist:::promotion_before(NULL)
  on.exit(joist:::restore_promotion(old))
  .Call(joist:::joist_r_set_policy, NULL, FALSE)
  expr
}
