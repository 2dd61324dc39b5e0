"""1688.com, and what speaks its dialect: signed `param2` calls, its order object, its pushes."""
