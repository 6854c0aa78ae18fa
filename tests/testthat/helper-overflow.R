# Many tests compute with integers that wrap. Those of warnings about it ask for them.
local_promotion(NULL, globalenv(), on = c(overflow = "ok"))

# Evaluates `expr` under the policy that users have who set none.
by_default <- function(expr) {
  joist:::in_session(.Call(joist:::joist_r_set_promotion, NULL, FALSE, FALSE), expr)
}
