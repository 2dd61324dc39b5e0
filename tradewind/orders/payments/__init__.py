"""The verbs about money: ask to pay, decide, pay, ask for it back."""
