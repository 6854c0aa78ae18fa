# What Julia answers, for systems_text.py: a line operation,lhs,rhs,result for each cell of
# julia.csv without literals. Values are ones, which every type holds exactly.
using Statistics

const nodes = [
    "bool" => Bool, "i8" => Int8, "i16" => Int16, "i32" => Int32, "i64" => Int64, "ui8" => UInt8,
    "ui16" => UInt16, "ui32" => UInt32, "ui64" => UInt64, "f16" => Float16, "f32" => Float32,
    "f64" => Float64, "c64" => ComplexF32, "c128" => ComplexF64,
]
const names = Dict(type => name for (name, type) in nodes)

assigned(x, y) = typeof(setindex!([x], y, 1)[1])

const binary = [
    "common" => (x, y) -> promote_type(typeof(x), typeof(y)),
    "add" => (x, y) -> typeof(x + y),
    "divide" => (x, y) -> typeof(x / y),
    "power" => (x, y) -> typeof(x^y),
    "integer_divide" => (x, y) -> typeof(div(x, y)),
    "modulo" => (x, y) -> typeof(x % y),
    "combine" => (x, y) -> eltype(vcat([x], [y])),
    "assign" => (x, y) -> assigned(x, y),
    "maximum" => (x, y) -> typeof(max(x, y)),
    "bitwise" => (x, y) -> typeof(x & y),
]
const unary = [
    "inexact" => x -> typeof(sqrt(x)),
    "mean" => x -> typeof(mean([x, x])),
    "sum" => x -> typeof(sum([x, x])),
    "prod" => x -> typeof(prod([x, x])),
    "cumsum" => x -> eltype(cumsum([x, x])),
]

function answer(f, operands...)
    try
        type = f(operands...)
        return get(names, type, string(type))
    catch
        return "-"
    end
end

for (operation, f) in binary, (lhs, L) in nodes, (rhs, R) in nodes
    println(operation, ",", lhs, ",", rhs, ",", answer(f, one(L), one(R)))
end
for (operation, f) in unary, (lhs, L) in nodes
    println(operation, ",", lhs, ",,", answer(f, one(L)))
end
