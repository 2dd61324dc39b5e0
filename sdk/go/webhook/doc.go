// Package webhook receives Tradewind's webhooks.
//
// [Verify] checks a webhook, [ParseEvent] reads it, and [Handler] does both, then calls your function
// once for each event, and not for outdated ones.
package webhook
