// Searches, previews, orders and requests payment, then reads the events: go run ./examples/order
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"tradewind.example/sdk/api"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	address := cmp.Or(os.Getenv("TRADEWIND_URL"), "http://localhost:8000")
	client, err := api.NewClient(address, api.WithAPIKey(os.Getenv("TRADEWIND_API_KEY")))
	if err != nil {
		return err
	}
	offers, err := client.SearchProducts(ctx, api.SearchInput{Q: "dress", Platform: "sandbox"})
	if err != nil {
		return err
	}
	if len(offers.Items) == 0 {
		return errors.New("nothing was found")
	}
	product, err := client.GetProduct(ctx, "sandbox", offers.Items[0].ID, api.GetProductQuery{})
	if err != nil {
		return err
	}

	if len(product.Skus) == 0 {
		return errors.New("the product has no variants")
	}

	purchase := api.OrderInput{
		Platform: "sandbox",
		Items:    []api.LineInput{{ProductID: product.ID, SKUID: &product.Skus[0].ID, Quantity: 2}},
		Address: api.AddressInput{
			Name:     "张三",
			Phone:    "15251667788",
			Province: "浙江省",
			City:     "杭州市",
			District: "滨江区",
			Detail:   "网商路699号",
		},
	}
	preview, err := client.PreviewOrder(ctx, purchase)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %.2f CNY\n", product.Title, preview.TotalAmountCNY)

	order, err := client.CreateOrder(ctx, purchase)
	for err == nil && order.Status == api.OrderStatusCreating {
		time.Sleep(time.Second)
		order, err = client.GetOrder(ctx, order.ID)
	}
	if err != nil {
		return err
	}
	payment, err := client.RequestOrderPayment(ctx, order.ID, nil)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %.2f CNY to be approved\n", order.ID, payment.AmountCNY)

	for event, err := range client.ListEventsSeq(ctx, api.ListEventsQuery{Order: &order.ID}) {
		if err != nil {
			return err
		}
		fmt.Printf("%s %s\n", event.Event, event.Data.Order.PaymentStatus)
	}
	return nil
}
