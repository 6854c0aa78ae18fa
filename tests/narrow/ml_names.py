"""The dtypes of up to a byte: joist's names and those of ml_dtypes."""

ML_NAMES = {
    "int1": "int1", "i2": "int2", "i4": "int4", "uint1": "uint1", "ui2": "uint2", "ui4": "uint4",
    "f4E2M1FN": "float4_e2m1fn", "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn",
    "f8E3M4": "float8_e3m4", "f8E4M3": "float8_e4m3", "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3FN": "float8_e4m3fn", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu",
}
