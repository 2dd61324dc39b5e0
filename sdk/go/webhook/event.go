// Reads the body of a webhook into an event.

package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Event is the body of every webhook. Both kinds have the same shape, and new kinds may be added.
type Event struct {
	ID        string    `json:"id"`    // starts with evt_; the same in every delivery of this event
	Event     string    `json:"event"` // OrderUpdated or PaymentUpdated
	CreatedAt time.Time `json:"created_at"`
	Data      EventData `json:"data"`
}

// The kinds of events.
const (
	OrderUpdated   = "order.updated"
	PaymentUpdated = "payment.updated"
)

// EventData is what an event is about.
type EventData struct {
	Order Order `json:"order"`
}

// Order is the order as an event shows it. New values of the three statuses may be added.
type Order struct {
	ID                    string    `json:"id"` // our id, starting with ORD: look the order up by it
	Platform              string    `json:"platform"`
	OrderID               *string   `json:"order_id"` // its id on the platform; nil before it has one
	Status                string    `json:"status"`
	PaymentStatus         string    `json:"payment_status"`
	PlatformPaymentStatus string    `json:"platform_payment_status"`
	TotalAmountCNY        *float64  `json:"total_amount_cny"`
	UpdatedAt             time.Time `json:"updated_at"`
}

// ErrInvalidEvent is wrapped by the errors of bodies that are not events.
var ErrInvalidEvent = errors.New("the body is not an event")

// ParseEvent reads the body of a verified webhook. Unknown fields and values are no error.
func ParseEvent(body []byte) (Event, error) {
	if !utf8.Valid(body) {
		return Event{}, fmt.Errorf("%w: it is not UTF-8", ErrInvalidEvent)
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrInvalidEvent, err)
	}
	order := event.Data.Order
	for _, required := range []struct{ name, value string }{
		{"id", event.ID},
		{"event", event.Event},
		{"data.order.id", order.ID},
		{"data.order.platform", order.Platform},
		{"data.order.status", order.Status},
		{"data.order.payment_status", order.PaymentStatus},
		{"data.order.platform_payment_status", order.PlatformPaymentStatus},
	} {
		if required.value == "" {
			return Event{}, fmt.Errorf("%w: it has no %s", ErrInvalidEvent, required.name)
		}
	}
	if event.CreatedAt.IsZero() {
		return Event{}, fmt.Errorf("%w: it has no created_at", ErrInvalidEvent)
	}
	if order.UpdatedAt.IsZero() {
		return Event{}, fmt.Errorf("%w: it has no data.order.updated_at", ErrInvalidEvent)
	}
	return event, nil
}

// IsStale reports whether to ignore an event, because a newer state of its order is held already.
//
// held is the Data.Order.UpdatedAt of the newest event that you have applied to the order, or zero.
// An equally new event is not old: an order and its payment may change together, and then two events
// show the same state. Compare and store in one transaction, with the order's row locked, or two
// events that arrive together may both win.
func (e Event) IsStale(held time.Time) bool {
	return e.Data.Order.UpdatedAt.Before(held)
}
