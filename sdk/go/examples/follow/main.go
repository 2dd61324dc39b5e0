// Follows the stream of events, which needs no public address: go run ./examples/follow
package main

import (
	"cmp"
	"context"
	"log"
	"os"

	"tradewind.example/sdk/api"
)

func main() {
	address := cmp.Or(os.Getenv("TRADEWIND_URL"), "http://127.0.0.1:8000")
	client, err := api.NewClient(address, api.WithAPIKey(os.Getenv("TRADEWIND_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	// "0" is before the first event of your journal. Without it, the stream begins with what is new.
	begin := api.WithLastEventID("0")
	for event, err := range client.StreamEvents(context.Background(), api.StreamEventsQuery{}, begin) {
		if err != nil {
			log.Fatal(err)
		}
		order := event.Data.Data.Order
		log.Printf("%s %s %s: %s, payment %s", event.ID, event.Event, order.ID, order.Status, order.PaymentStatus)
	}
}
