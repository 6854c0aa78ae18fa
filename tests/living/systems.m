% What Octave answers, for systems.py: its version, then a line operation,lhs,rhs,result for each
% cell of octave.csv. Operands are arrays of two elements, but the right one of rank_zero has one.
% Complex operands have imaginary parts, which Octave would drop if they were zero.
1;

function x = operand(node, count)
  switch node
    case "bool",  x = true(1, count);
    case "f32",   x = ones(1, count, "single");
    case "f64",   x = ones(1, count);
    case "c64",   x = complex(ones(1, count, "single"), ones(1, count, "single"));
    case "c128",  x = complex(ones(1, count), ones(1, count));
    otherwise,    x = ones(1, count, strrep(node, "i", "int"));
  endswitch
endfunction

function name = node_of(x)
  name = class(x);
  switch name
    case "logical", name = "bool";
    case "single",  if iscomplex(x) name = "c64"; else name = "f32"; endif
    case "double",  if iscomplex(x) name = "c128"; else name = "f64"; endif
    otherwise,      name = strrep(name, "int", "i");
  endswitch
endfunction

function x = assigned(x, y)
  x(1) = y(1);
endfunction

function ask(operation, f, lhs, rhs, x, y)
  try
    if isempty(rhs)
      result = node_of(f(x));
    else
      result = node_of(f(x, y));
    endif
  catch
    result = "-";
  end_try_catch
  printf("%s,%s,%s,%s\n", operation, lhs, rhs, result);
endfunction

warning("off", "all");
printf("Octave %s\n", version());
nodes = {"bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", ...
         "f32", "f64", "c64", "c128"};
binary = {
  "common",         @(x, y) x + y
  "divide",         @(x, y) x ./ y
  "power",          @(x, y) x .^ y
  "integer_divide", @(x, y) idivide(x, y)
  "modulo",         @(x, y) mod(x, y)
  "combine",        @(x, y) [x, y]
  "assign",         @assigned
  "maximum",        @(x, y) max(x, y)
  "bitwise",        @(x, y) bitand(x, y)
  "rank_zero",      @(x, y) x + y
};
unary = {
  "inexact", @sqrt
  "mean",    @mean
  "sum",     @sum
  "prod",    @prod
  "cumsum",  @cumsum
};
for k = 1:rows(binary)
  for lhs = nodes
    for rhs = nodes
      count = 2 - strcmp(binary{k, 1}, "rank_zero");
      ask(binary{k, :}, lhs{1}, rhs{1}, operand(lhs{1}, 2), operand(rhs{1}, count));
    endfor
  endfor
endfor
for k = 1:rows(unary)
  for lhs = nodes
    ask(unary{k, :}, lhs{1}, "", operand(lhs{1}, 2));
  endfor
endfor
