// The client against a server that fails on request: retries, keys, pages, errors.

package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

type reply struct {
	status  int
	body    string
	headers map[string]string
	hangUp  bool
	silence bool
}

type received struct{ method, url, key, body, auth, media string }

// flaky answers with what it is told, one reply after the other, then with {}.
type flaky struct {
	*Client
	requests []received
	replies  []reply
}

func newFlaky(t *testing.T, replies ...reply) *flaky {
	t.Helper()
	f := &flaky{replies: replies}
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL+"/", WithAPIKey("twk_1"))
	if err != nil {
		t.Fatal(err)
	}
	f.Client = client
	return f
}

func (f *flaky) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.requests = append(f.requests, received{
		r.Method, r.RequestURI, r.Header.Get(keyHeader), string(body), r.Header.Get("X-Api-Key"), r.Header.Get("Content-Type"),
	})
	answer := reply{status: http.StatusOK, body: "{}"}
	if len(f.replies) > 0 {
		answer, f.replies = f.replies[0], f.replies[1:]
	}
	switch {
	case answer.hangUp:
		panic(http.ErrAbortHandler)
	case answer.silence:
		<-r.Context().Done()
		return
	}
	for name, value := range answer.headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

var soon = map[string]string{"Retry-After": "1"}

func (f *flaky) expect(t *testing.T, count int) {
	t.Helper()
	if len(f.requests) != count {
		t.Fatalf("%d requests instead of %d: %v", len(f.requests), count, f.requests)
	}
}

func TestAllTriesOfACallHaveOneKey(t *testing.T) {
	t.Parallel()
	f := newFlaky(t,
		reply{status: 503}, reply{hangUp: true},
		reply{status: 409, body: `{"code":"request_in_flight"}`},
		reply{status: 201, body: `{"id":"ORD1"}`})
	order, err := f.CreateOrder(t.Context(), OrderInput{Platform: "sandbox"})
	if err != nil || order.ID != "ORD1" {
		t.Fatal(order, err)
	}
	f.expect(t, 4)
	for _, each := range f.requests {
		if each.key == "" || each != f.requests[0] {
			t.Errorf("%v is not %v", each, f.requests[0])
		}
	}
	if _, err := f.CreateOrder(t.Context(), OrderInput{}, WithIdempotencyKey("PO-1")); err != nil {
		t.Error(err)
	}
	if _, err := f.CreateOrder(t.Context(), OrderInput{}); err != nil {
		t.Error(err)
	}
	if f.requests[4].key != "PO-1" || f.requests[5].key == f.requests[0].key || f.requests[0].auth != "twk_1" {
		t.Error(f.requests)
	}
}

func TestRetryAfterIsWaitedFor(t *testing.T) {
	t.Parallel()
	f := newFlaky(t, reply{status: 429, headers: soon}, reply{status: 200, body: "{}"},
		reply{status: 429, body: `{"code":"rate_limited","retry_after":3600}`})
	start := time.Now()
	if _, err := f.GetMe(t.Context()); err != nil || time.Since(start) < time.Second {
		t.Error(err, time.Since(start))
	}
	_, err := f.GetMe(t.Context())
	var failure *Error
	if !errors.As(err, &failure) || !errors.Is(err, ErrRateLimited) || failure.RetryAfter != time.Hour {
		t.Error(err)
	}
	f.expect(t, 3)
}

func TestWhatMayHaveBeenDoneIsNotSentAgain(t *testing.T) {
	t.Parallel()
	f := newFlaky(t, reply{hangUp: true}, reply{status: 503, headers: soon}, reply{status: 429, headers: soon})
	input := SubscriptionInput{URL: "https://example.com"}
	if _, err := f.CreateWebhook(t.Context(), input); !errors.Is(err, ErrConnectionFailed) {
		t.Error(err)
	}
	if _, err := f.CreateWebhook(t.Context(), input); !errors.Is(err, ErrServerFailed) {
		t.Error(err)
	}
	f.expect(t, 2)
	if _, err := f.CreateWebhook(t.Context(), input); err != nil { // refused, so not done
		t.Error(err)
	}
	f.expect(t, 4)
}

func TestItStopsAfterSoManyTries(t *testing.T) {
	t.Parallel()
	f := newFlaky(t, reply{status: 500}, reply{status: 500}, reply{status: 500}, reply{status: 500})
	f.MaxRetries = 1
	if _, err := f.GetMe(t.Context()); !errors.Is(err, ErrServerFailed) {
		t.Error(err)
	}
	f.expect(t, 2)
}

func TestAnErrorHasEverythingThatTheProblemSays(t *testing.T) {
	t.Parallel()
	f := newFlaky(t,
		reply{status: 422, body: `{"code":"validation_failed","detail":"No.","request_id":"req_1",` +
			`"errors":[{"pointer":"/url","code":"missing","message":"Is required."}]}`},
		reply{status: 404, headers: map[string]string{"X-Request-Id": "req_2"}, body: "<html>"},
		reply{status: 302, headers: map[string]string{"Location": "https://example.com/"}})
	_, err := f.CreateWebhook(t.Context(), SubscriptionInput{})
	var failure *Error
	if !errors.As(err, &failure) || !errors.Is(err, ErrInvalidRequest) || failure.Code != "validation_failed" ||
		failure.RequestID != "req_1" || failure.Errors[0].Pointer != "/url" {
		t.Errorf("%+v", err)
	}
	_, err = f.GetOrder(t.Context(), "ORD1")
	if !errors.As(err, &failure) || !errors.Is(err, ErrNotFound) || failure.RequestID != "req_2" {
		t.Errorf("%+v", err)
	}
	_, err = f.GetMe(t.Context()) // the key goes to no other server
	if !errors.As(err, &failure) || failure.Status != http.StatusFound {
		t.Errorf("%+v", err)
	}
	f.expect(t, 3)
}

func TestListsAreEveryItemOfAllPages(t *testing.T) {
	t.Parallel()
	f := newFlaky(t,
		reply{status: 200, body: `{"items":[{"id":"1"},{"id":"2"}],"has_more":true,"next_cursor":"c 1"}`},
		reply{status: 200, body: `{"items":[{"id":"3"}],"has_more":false,"next_cursor":null}`},
		reply{status: 200, body: `{"items":[{"id":"4"}],"has_more":true,"next_cursor":"e1"}`},
		reply{status: 404})
	var ids []string
	query := ListOrdersQuery{Status: []OrderStatus{OrderStatusPaid, OrderStatusShipped}, Limit: Ptr(2)}
	for order, err := range f.ListOrdersSeq(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, order.ID)
	}
	for event, err := range f.ListEventsSeq(t.Context(), ListEventsQuery{}) {
		if err != nil {
			if !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
			ids = append(ids, "error")
			continue
		}
		ids = append(ids, event.ID)
	}
	if expected := []string{"1", "2", "3", "4", "error"}; !reflect.DeepEqual(ids, expected) {
		t.Error(ids)
	}
	for number, expected := range []string{
		"/v1/orders?limit=2&status=paid&status=shipped",
		"/v1/orders?cursor=c+1&limit=2&status=paid&status=shipped",
		"/v1/events",
		"/v1/events?after=e1",
	} {
		if f.requests[number].url != expected {
			t.Error(f.requests[number].url)
		}
	}
}

func TestIDsAreEscapedAndCannotLeaveThePath(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	if _, err := f.GetOrder(t.Context(), "a/../b?c#d"); err != nil {
		t.Error(err)
	}
	if f.requests[0].url != "/v1/orders/a%2F..%2Fb%3Fc%23d" {
		t.Error(f.requests[0].url)
	}
	for _, id := range []string{"", ".", ".."} {
		if err := f.DeleteWebhook(t.Context(), id); err == nil {
			t.Errorf("%q was sent", id)
		}
	}
	f.expect(t, 1)
}

func TestASlowServerAndAnEndedContextAreErrors(t *testing.T) {
	t.Parallel()
	f := newFlaky(t, reply{silence: true}, reply{silence: true})
	f.MaxRetries, f.Timeout = 0, 50*time.Millisecond
	if _, err := f.GetMe(t.Context()); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrConnectionFailed) {
		t.Error(err)
	}
	f.MaxRetries, f.Timeout = 3, time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := f.GetMe(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	f.expect(t, 2)
	for _, address := range []string{"", "localhost:8000", "ftp://example.com", "http://"} {
		if _, err := NewClient(address); err == nil {
			t.Errorf("%q is an address", address)
		}
	}
}

func TestTheKeyIsNotPrinted(t *testing.T) {
	f := newFlaky(t)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, f.Client); strings.Contains(text, "twk_1") {
			t.Error(text)
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	f := newFlaky(t, reply{status: 204}, reply{status: 200, body: "{}"}, reply{status: 201, body: "{}"},
		reply{status: 200, body: "order,status\r\n"})
	if err := f.DeleteWebhook(t.Context(), "whk_1"); err != nil {
		t.Error(err)
	}
	if _, err := f.TestWebhook(t.Context(), "whk_1", nil); err != nil {
		t.Error(err)
	}
	upload := CreateImportQuery{FileName: Ptr("a b.csv"), Column: []string{"x:y", "z:w"}}
	if _, err := f.CreateImport(t.Context(), []byte("a;b\n"), upload); err != nil {
		t.Error(err)
	}
	file, err := f.ExportOrders(t.Context(), ExportOrdersQuery{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if text, err := io.ReadAll(file); err != nil || string(text) != "order,status\r\n" {
		t.Error(string(text), err)
	}
	expected := received{
		"POST", "/v1/imports?column=x%3Ay&column=z%3Aw&file_name=a+b.csv", "", "a;b\n", "twk_1", "application/octet-stream",
	}
	if f.requests[1].body != "" || f.requests[1].media != "" || f.requests[2] != expected {
		t.Error(f.requests)
	}
}
