"""The audit log: changes of access and decisions about payments, with actor, time and address."""
