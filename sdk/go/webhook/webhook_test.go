// Verifying and receiving: the failed check is named, each event is handled once, none outdated.

package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	now  = int64(1_763_164_800)
	body = `{"id":"evt_1"}`
)

var (
	secret = "whsec_" + strings.Repeat("a", 43)
	other  = "whsec_" + strings.Repeat("b", 43)
)

func headers(signature, timestamp string) http.Header {
	return http.Header{signatureHeader: {signature}, timestampHeader: {timestamp}}
}

func failed(t *testing.T, header http.Header, age time.Duration, secrets ...string) VerificationFailure {
	t.Helper()
	at := time.Unix(now, 0).Add(age)
	_, err := Verifier{Secrets: secrets, Now: func() time.Time { return at }}.Verify(header, []byte(body))
	var refused *VerificationError
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused == nil {
		return ""
	}
	return refused.Reason
}

func TestTheFailedCheckIsNamed(t *testing.T) {
	genuine, seconds := Sign(secret, now, []byte(body)), strconv.FormatInt(now, 10)
	forged := "sha256=" + strings.Repeat("0", 64)
	for _, each := range []struct {
		header http.Header
		check  VerificationFailure
	}{
		{http.Header{}, SignatureMissing},
		{headers("sha256=", seconds), SignatureMalformed},
		{headers(strings.Repeat("0", 64), seconds), SignatureMalformed},
		{headers("sha1="+strings.Repeat("0", 40), seconds), SignatureMalformed},
		{headers(strings.ToUpper(genuine), seconds), SignatureMalformed},
		{headers(genuine+"\n", seconds), SignatureMalformed},
		{http.Header{signatureHeader: {genuine, genuine}, timestampHeader: {seconds}}, SignatureMalformed},
		{http.Header{signatureHeader: {genuine}}, TimestampMissing},
		{headers(genuine, ""), TimestampMalformed},
		{headers(genuine, "-1"), TimestampMalformed},
		{headers(genuine, "1e9"), TimestampMalformed},
		{headers(genuine, " "+seconds), TimestampMalformed},
		{headers(genuine, "\u0661\u0662"), TimestampMalformed},
		{headers(genuine, strings.Repeat("9", 5000)), TimestampMalformed},
		{headers(genuine, strconv.FormatInt(now+1, 10)), SignatureWrong},
		{headers(genuine, "0"+seconds), SignatureWrong},
		{headers(forged, seconds), SignatureWrong},
		{headers(forged, "1"), SignatureWrong},
		{headers(genuine, seconds), ""},
		{http.Header{"x-service-signature": {genuine}, "X-SERVICE-TIMESTAMP": {seconds}}, ""},
	} {
		if check := failed(t, each.header, 0, secret); check != each.check {
			t.Errorf("%v: %q instead of %q", each.header, check, each.check)
		}
	}
}

func TestTheClocksMayBeFiveMinutesApart(t *testing.T) {
	genuine := headers(Sign(secret, now, []byte(body)), strconv.FormatInt(now, 10))
	for age, expected := range map[time.Duration]VerificationFailure{
		0:                         "",
		300 * time.Second:         "",
		-300 * time.Second:        "",
		300500 * time.Millisecond: TimestampTooOld,
		-301 * time.Second:        TimestampTooNew,
	} {
		if check := failed(t, genuine, age, secret); check != expected {
			t.Errorf("%v: %q instead of %q", age, check, expected)
		}
	}
	distant := headers(Sign(secret, 999_999_999_999_999, []byte(body)), "999999999999999")
	if check := failed(t, distant, 0, secret); check != TimestampTooNew {
		t.Errorf("a distant time: %q", check)
	}
}

func TestSecrets(t *testing.T) {
	genuine := headers(Sign(secret, now, []byte(body)), strconv.FormatInt(now, 10))
	if check := failed(t, genuine, 0, other, secret); check != "" {
		t.Errorf("the second of two secrets: %q", check)
	}
	if check := failed(t, genuine, 0, other); check != SignatureWrong {
		t.Errorf("another secret: %q", check)
	}
	for _, secrets := range [][]string{nil, {""}, {" \n"}, {secret, ""}} {
		signed := headers(Sign("", now, []byte(body)), strconv.FormatInt(now, 10))
		if _, err := Verify(signed, []byte(body), secrets...); !errors.Is(err, ErrEmptySecret) {
			t.Errorf("%q: %v", secrets, err)
		}
	}
}

func event(id string, second int, order string) string {
	return fmt.Sprintf(`{"id":%q,"event":"order.updated","created_at":"2026-11-15T08:00:00.000Z","new":1,"data":{"order":`+
		`{"id":%q,"platform":"sandbox","order_id":null,"status":"a status of the future","payment_status":"unpaid",`+
		`"platform_payment_status":"unpaid","total_amount_cny":128.5,"updated_at":"2026-11-15T08:00:0%d.000Z"}}}`,
		id, order, second)
}

func send(t *testing.T, handler http.Handler, text string) int {
	t.Helper()
	seconds := time.Now().Unix()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text))
	request.Header = headers(Sign(secret, seconds, []byte(text)), strconv.FormatInt(seconds, 10))
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	return response.Code
}

func TestEachEventIsHandledOnceAndNoneThatIsOutdated(t *testing.T) {
	var handled []string
	handler := NewHandler(func(_ context.Context, event Event, _ Delivery) error {
		handled = append(handled, event.ID)
		return nil
	}, secret)
	for _, text := range []string{
		event("1", 2, "ORD1"), event("1", 2, "ORD1"), event("2", 1, "ORD1"),
		event("3", 2, "ORD1"), event("4", 3, "ORD1"), event("5", 1, "ORD2"),
	} {
		if status := send(t, handler, text); status != http.StatusOK {
			t.Errorf("%d: %s", status, text)
		}
	}
	if expected := []string{"1", "3", "4", "5"}; !reflect.DeepEqual(handled, expected) {
		t.Errorf("handled %v instead of %v", handled, expected)
	}
}

func TestAFailureIsDeliveredAgain(t *testing.T) {
	calls := 0
	handler := NewHandler(func(context.Context, Event, Delivery) error {
		calls++
		switch calls {
		case 1:
			return errors.New("the database is away")
		case 2:
			panic(http.ErrAbortHandler)
		}
		return nil
	}, secret)
	handler.OnError = func(error) {}
	if status := send(t, handler, event("1", 1, "ORD1")); status != http.StatusInternalServerError {
		t.Error(status)
	}
	func() {
		defer func() { _ = recover() }()
		send(t, handler, event("1", 1, "ORD1"))
	}()
	if status := send(t, handler, event("1", 1, "ORD1")); status != http.StatusOK || calls != 3 {
		t.Error(status, calls)
	}
}

func TestARepeatDuringTheHandlingIsUnavailable(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	handler := NewHandler(func(context.Context, Event, Delivery) error {
		close(started)
		<-finish
		return nil
	}, secret)
	done := make(chan int)
	go func() { done <- send(t, handler, event("1", 1, "ORD1")) }()
	<-started
	if status := send(t, handler, event("1", 1, "ORD1")); status != http.StatusServiceUnavailable {
		t.Error(status)
	}
	close(finish)
	if status := <-done; status != http.StatusOK {
		t.Error(status)
	}
}

func TestManyAtOnceAreHandledInTurnAndOnce(t *testing.T) {
	var mutex sync.Mutex
	running, last, count := 0, 0, 0
	handler := NewHandler(func(_ context.Context, event Event, _ Delivery) error {
		mutex.Lock()
		running++
		second := event.Data.Order.UpdatedAt.Second()
		if running > 1 || second < last {
			t.Errorf("%d at once, %d after %d", running, second, last)
		}
		last = second
		count++
		mutex.Unlock()
		time.Sleep(time.Millisecond)
		mutex.Lock()
		running--
		mutex.Unlock()
		return nil
	}, secret)
	var group sync.WaitGroup
	for number := range 40 {
		group.Add(1)
		go func() {
			defer group.Done()
			send(t, handler, event(strconv.Itoa(number%20), number%10, "ORD1"))
		}()
	}
	group.Wait()
	if count == 0 || count > 20 {
		t.Error(count)
	}
	if memory := &handler.memory; len(memory.turns) != 0 || len(memory.running) != 0 {
		t.Error("something is left behind")
	}
}

func TestWhyAWebhookWasRefusedIsReported(t *testing.T) {
	var reasons []error
	for _, key := range []string{other, secret} {
		handler := NewHandler(func(context.Context, Event, Delivery) error { return nil }, key)
		handler.OnRefused = func(err error) { reasons = append(reasons, err) }
		send(t, handler, "{}")
	}
	var wrong *VerificationError
	if len(reasons) != 2 || !errors.As(reasons[0], &wrong) || errors.As(reasons[1], &wrong) {
		t.Error(reasons)
	}
}

func TestWhatIsNoEventIsBad(t *testing.T) {
	handler := NewHandler(func(context.Context, Event, Delivery) error {
		t.Error("it was handled")
		return nil
	}, secret)
	for _, text := range []string{"", "{", "null", "[]", "{}", "\xff", event("", 1, "ORD1"), event("1", 1, ""),
		strings.Replace(event("1", 1, "ORD1"), "2026-11-15T08:00:01.000Z", "yesterday", 1),
		strings.Replace(event("1", 1, "ORD1"), "128.5", `"128.5"`, 1)} {
		if status := send(t, handler, text); status != http.StatusBadRequest {
			t.Errorf("%d: %q", status, text)
		}
	}
	if status := send(t, handler, strings.Repeat(" ", mostBytes+1)); status != http.StatusRequestEntityTooLarge {
		t.Error(status)
	}
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/", nil))
	if response.Code != http.StatusMethodNotAllowed || response.Header().Get("Allow") != "POST" {
		t.Error(response.Code)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	memory := &Memory{Most: 2}
	for _, id := range []string{"1", "2", "3", "1"} {
		parsed, err := ParseEvent([]byte(event(id, 1, id)))
		if err != nil {
			t.Fatal(err)
		}
		if wasHandled, err := memory.Handle(parsed, func() error { return nil }); !wasHandled || err != nil {
			t.Error(id, wasHandled, err)
		}
	}
	if len(memory.events.entries) != 2 || len(memory.orders.entries) != 2 {
		t.Error("it remembers more than it should")
	}
}

func TestTheMiddlewareLetsGenuineWebhooksThrough(t *testing.T) {
	var received []byte
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received, _ = io.ReadAll(r.Body) })
	if status := send(t, Middleware(Verifier{Secrets: []string{secret}}, next), body); status != http.StatusOK {
		t.Error(status)
	}
	if !bytes.Equal(received, []byte(body)) {
		t.Errorf("%q", received)
	}
	received = nil
	if status := send(t, Middleware(Verifier{Secrets: []string{other}}, next), body); status != http.StatusUnauthorized {
		t.Error(status)
	}
	if received != nil {
		t.Error("a forged webhook was let through")
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	handler := NewHandler(nil, secret)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, handler); strings.Contains(text, secret) {
			t.Error(text)
		}
	}
}

func TestAHandlerWithoutASecretCannotBeMade(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was made")
		}
	}()
	NewHandler(nil, "")
}
