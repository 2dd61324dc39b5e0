"""Taobao and Tmall, through the buyer's side of Taobao Global."""
