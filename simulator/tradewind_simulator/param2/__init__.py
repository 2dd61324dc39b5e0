"""The 1688 dialect: `param2` calls, its order object with its mixed units, its own spelling."""
