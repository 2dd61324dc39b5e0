"""The Taobao Global dialect: REST paths, fen, payments and cancels that are only accepted."""
