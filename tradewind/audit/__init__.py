"""The audit log: who changed who may do what, or decided about money, when and from where."""
