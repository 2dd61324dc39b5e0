// Receives webhooks with net/http: go run ./examples/receiver
package main

import (
	"cmp"
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"tradewind.example/sdk/webhook"
)

func main() {
	secret := os.Getenv("WEBHOOK_SECRET") // shown once, when the webhook is created
	port := cmp.Or(os.Getenv("PORT"), "3000")
	server := &http.Server{
		Addr:        "127.0.0.1:" + port,
		Handler:     webhook.NewHandler(onEvent, secret),
		ReadTimeout: 10 * time.Second,
	}
	log.Printf("Listening on http://localhost:%s", port)
	log.Fatal(server.ListenAndServe())
}

func onEvent(_ context.Context, event webhook.Event, _ webhook.Delivery) error {
	order := event.Data.Order
	log.Printf("%s %s: %s, payment %s", event.Event, order.ID, order.Status, order.PaymentStatus)
	return nil
}
