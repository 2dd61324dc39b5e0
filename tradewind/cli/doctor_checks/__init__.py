"""The checks of `tradewind doctor` that need more than a look at the settings."""
