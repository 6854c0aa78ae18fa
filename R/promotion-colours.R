# The colours of kinds of dtypes: in terminals, in plots, and on pages.

# Of every cell of a promotion table: a kind of number, "none" where undefined, "own" for a name of
# the user's.
kind_of_cells <- function(cells) {
  kind <- sub("^(bool|ui|i|bf|f|c)[0-9]*[?*]?$", "\\1", cells)
  narrow <- is_narrow(cells)
  kind[narrow] <- sub("^(ui|i|f).*$", "\\1", sub("int", "i", cells[narrow], fixed = TRUE))
  kind[kind == "bf" | cells == "float"] <- "f"
  kind[cells == "int"] <- "i"
  kind[cells == "complex"] <- "c"
  kind[cells == "b*"] <- "bool"
  kind[cells == "-"] <- "none"
  kind[!kind %in% names(kind_colours)] <- "own"
  kind
}

kind_colours <- c(
  bool = "#57606a", ui = "#7a3fc4", i = "#0550ae", f = "#116329", c = "#a0111f",
  none = "#8c959f", own = "#24292f"
)

# The same on a dark ground.
dark_kind_colours <- c(
  bool = "#afb8c1", ui = "#c8a1ff", i = "#7ab8ff", f = "#6fd08c", c = "#ff9a9a",
  none = "#8b949e", own = "#e6edf3"
)

# Dtypes of up to a byte, other than those of 8 bits that all libraries have.
is_narrow <- function(cells) grepl("^(u?int1|u?i[24]|f[468]E[0-9A-Z]+)[?]?$", cells)

is_guess <- function(cells) grepl("[?*]$", cells)

# The terminal's own colours, of which each theme has legible ones.
terminal_colours <- c(
  bool = "silver", ui = "magenta", i = "blue", f = "green", c = "red", none = "silver", own = NA
)

has_colours <- function() {
  requireNamespace("cli", quietly = TRUE) && cli::num_ansi_colors() > 1L
}

# Texts in the colours of what kind of dtype they name, guesses in italics.
paint_types <- function(texts, cells) {
  if (!has_colours()) {
    return(texts)
  }
  colours <- terminal_colours[kind_of_cells(cells)]
  guess <- is_guess(cells)
  for (k in which(!is.na(colours))) texts[k] <- cli::make_ansi_style(colours[k])(texts[k])
  texts[guess] <- cli::style_italic(texts[guess])
  texts
}

# Every name of a dtype in lines of text.
paint_names <- function(lines) {
  if (!has_colours()) {
    return(lines)
  }
  dtype <- paste0("\\b(", paste(dtypes(), collapse = "|"), ")\\b[?]?|\\b[ifc][*]")
  found <- gregexpr(dtype, lines, perl = TRUE)
  regmatches(lines, found) <- lapply(regmatches(lines, found), function(x) paint_types(x, x))
  lines
}

style_strong <- function(text) if (has_colours()) cli::style_bold(text) else text
