"""What operators watch: the state of the whole system, measured for metrics and `top`."""
