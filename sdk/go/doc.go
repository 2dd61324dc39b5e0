// Package tradewind receives Tradewind's webhooks. It has no dependency.
package tradewind
