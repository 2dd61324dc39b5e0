"""What a receiver of webhooks needs: verify, dedupe, ordering; the standard library and no more."""
