// The stream against a server that cuts it off: every event once, in order.

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

func block(number int) string {
	return fmt.Sprintf("id: %d\nevent: order.updated\ndata: {\"id\":\"evt_%d\"}\n\n", number, number)
}

// streaming answers each connection with the next reply, then with 401.
func streaming(t *testing.T, replies ...func(http.ResponseWriter, *http.Request)) (*Client, *[]string) {
	t.Helper()
	var resumed []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resumed = append(resumed, r.Header.Get(lastEventIDHeader))
		if len(resumed) > len(replies) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		replies[len(resumed)-1](w, r)
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client.silence = 100 * time.Millisecond
	return client, &resumed
}

func sending(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) }
}

func thenSilence(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, text)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func TestALostStreamIsResumedUntilTheServerRefuses(t *testing.T) {
	t.Parallel()
	client, resumed := streaming(t,
		sending("id: 6\n\n: a comment\n\n"+block(7)+strings.TrimSuffix(block(8), "\n")), // cut off
		thenSilence(strings.ReplaceAll(block(8), "\n", "\r\n")),
		sending(block(9)),
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		sending(block(10)))
	var seen []string
	for event, err := range client.StreamEvents(t.Context(), StreamEventsQuery{}) {
		if err != nil {
			if !errors.Is(err, ErrNotAuthenticated) {
				t.Error(err)
			}
			break
		}
		seen = append(seen, event.ID+" "+event.Event+" "+event.Data.ID)
	}
	expected := []string{}
	for number := range 4 {
		expected = append(expected, fmt.Sprintf("%d order.updated evt_%d", number+7, number+7))
	}
	if !reflect.DeepEqual(seen, expected) {
		t.Error(seen)
	}
	if !reflect.DeepEqual(*resumed, []string{"", "7", "8", "9", "9", "10"}) {
		t.Error(*resumed)
	}
}

func TestAStreamEndsWithTheLoopOrTheContext(t *testing.T) {
	t.Parallel()
	both := block(1) + block(2)
	client, resumed := streaming(t, thenSilence(both), thenSilence(both))
	client.silence = time.Minute
	for event, err := range client.StreamEvents(t.Context(), StreamEventsQuery{}, WithLastEventID("0")) {
		if err != nil || event.ID != "1" {
			t.Error(event, err)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	for _, err := range client.StreamEvents(ctx, StreamEventsQuery{}) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			continue
		}
		if count++; count == 2 {
			cancel()
		}
	}
	cancel()
	if count != 2 || !reflect.DeepEqual(*resumed, []string{"0", ""}) {
		t.Error(count, *resumed)
	}
}

func TestAStreamThatNeverBeganIsAnError(t *testing.T) {
	t.Parallel()
	client, resumed := streaming(t)
	for _, err := range client.StreamEvents(t.Context(), StreamEventsQuery{}) {
		if !errors.Is(err, ErrNotAuthenticated) {
			t.Error(err)
		}
	}
	if len(*resumed) != 1 {
		t.Error(*resumed)
	}
}
