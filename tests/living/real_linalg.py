"""A plugin of pytest: the suite's tests of linear algebra make up matrices of real numbers only.

joist has no linear algebra of complex numbers, and a test that makes up both fails.
"""
from array_api_tests import dtype_helpers

dtype_helpers.all_float_dtypes = dtype_helpers.real_float_dtypes

# It reads them when it is imported.
from array_api_tests import hypothesis_helpers  # noqa: E402

hypothesis_helpers.all_floating_dtypes = lambda: hypothesis_helpers.floating_dtypes
