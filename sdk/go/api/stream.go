// Follows the stream of events: resumes after the last event when the connection is lost.

package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"time"
)

const (
	lastEventIDHeader = "Last-Event-Id"
	resumeTime        = 5 * time.Minute
	longestLine       = 1 << 20
)

// StreamedEvent is an event of the stream.
type StreamedEvent struct {
	// ID is its number in your journal. Store it with what you applied, and pass it by WithLastEventID
	// after a restart of your own.
	ID    string
	Event string
	Data  EventBody
}

// WithLastEventID resumes a stream after an event.
func WithLastEventID(id string) CallOption { return WithHeader(lastEventIDHeader, id) }

// errSilent ends a connection that shows no sign of life.
var errSilent = errors.New("the stream was silent")

// errStopped says that the caller wants no more events.
var errStopped = errors.New("stopped")

// follow yields events as they happen, without loss or repeat, until the caller stops or the server
// refuses.
func (c *Client) follow(ctx context.Context, request call, options []CallOption) iter.Seq2[StreamedEvent, error] {
	return func(yield func(StreamedEvent, error) bool) {
		wasOpen, lastID := false, ""
		var lostAt time.Time
		for retry := 0; ; retry++ {
			resumed := options
			if lastID != "" {
				resumed = append(append([]CallOption(nil), options...), WithLastEventID(lastID))
			}
			err := c.readStream(ctx, request, resumed, func(event StreamedEvent, hasData bool) bool {
				wasOpen, retry, lostAt = true, 0, time.Time{}
				if event.ID != "" {
					lastID = event.ID
				}
				event.ID = lastID
				return !hasData || yield(event, nil)
			})
			if errors.Is(err, errStopped) {
				return
			}
			if lostAt.IsZero() {
				lostAt = time.Now()
			}
			if !wasOpen || ctx.Err() != nil || !mayResume(err) || time.Since(lostAt) > resumeTime {
				yield(StreamedEvent{}, err)
				return
			}
			longest := min(longestWait, firstWait/2<<min(retry, 6))
			select {
			case <-ctx.Done():
				yield(StreamedEvent{}, ctx.Err())
				return
			case <-time.After(longest/2 + time.Duration(mathrand.Int64N(int64(longest/2)+1))):
			}
		}
	}
}

func mayResume(err error) bool {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Status == http.StatusTooManyRequests || failure.Status >= 500
	}
	return errors.Is(err, ErrConnectionFailed)
}

// readStream reads one connection to its end. A block that was cut off is left out: it is sent again,
// whole.
func (c *Client) readStream(
	ctx context.Context, request call, options []CallOption, receive func(StreamedEvent, bool) bool,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body, err := c.doFile(ctx, request, options)
	if err != nil {
		return err
	}
	defer body.Close()
	alarm := time.AfterFunc(c.silence, func() { cancel(errSilent) })
	defer alarm.Stop()

	var event StreamedEvent
	var data []string
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		alarm.Reset(c.silence)
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "id":
			event.ID = value
		case name == "event":
			event.Event = value
		case name == "data":
			data = append(data, value)
		case lines.Text() == "":
			if len(data) > 0 {
				if err := json.Unmarshal([]byte(strings.Join(data, "\n")), &event.Data); err != nil {
					return fmt.Errorf("tradewind: an event of the stream cannot be read: %w", err)
				}
			}
			if !receive(event, len(data) > 0) {
				return errStopped
			}
			event, data = StreamedEvent{}, nil
		}
	}
	err = lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("tradewind: the stream sent no event: %w", err)
	}
	if err == nil {
		err = io.EOF
	}
	return request.lost(ctx, err)
}
