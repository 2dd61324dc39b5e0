// Sends the requests of the client: credentials, deadline, retries.

package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	firstWait     = 500 * time.Millisecond
	longestWait   = 8 * time.Second
	jsonType      = "application/json"
	longestAnswer = 64 << 20
	keyHeader     = "Idempotency-Key"
)

// Client calls the API. Make it with NewClient; it is safe for use by several goroutines.
type Client struct {
	// MaxRetries is how often a failed request is repeated.
	MaxRetries int
	// MaxRetryAfter is the longest wait that a server may ask for. If it asks for more, the error is
	// returned instead.
	MaxRetryAfter time.Duration
	// Timeout limits one try, the response included. The body of a file has the context's deadline only.
	Timeout time.Duration

	base    string
	header  http.Header
	http    *http.Client
	silence time.Duration // after which a stream without a sign of life counts as lost
}

// Option changes a Client as it is made.
type Option func(*Client)

// WithAPIKey authenticates by an API key.
func WithAPIKey(key string) Option {
	return func(c *Client) { c.header.Set("X-Api-Key", key) }
}

// WithAccessToken authenticates by the access token of a login.
func WithAccessToken(token string) Option {
	return func(c *Client) { c.header.Set("Authorization", "Bearer "+token) }
}

// WithTransport sends the requests by another transport than the usual.
func WithTransport(transport http.RoundTripper) Option {
	return func(c *Client) { c.http.Transport = transport }
}

// NewClient makes a client of the server at baseURL, such as https://tradewind.example.com. It repeats
// failed requests three times, and each try has 30 seconds.
func NewClient(baseURL string, options ...Option) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" ||
		base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("tradewind: %q is not the http or https address of a server", baseURL)
	}
	client := &Client{
		MaxRetries:    3,
		MaxRetryAfter: time.Minute,
		Timeout:       30 * time.Second,
		silence:       45 * time.Second,
		base:          strings.TrimRight(base.String(), "/"),
		header:        http.Header{"Accept": {jsonType + ", */*;q=0.5"}},
		http: &http.Client{
			// A redirect could carry the key to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	for _, option := range options {
		option(client)
	}
	return client, nil
}

// String leaves the credentials out, so that they do not end up in a log.
func (c *Client) String() string { return "client of " + c.base }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

// CallOption changes one call.
type CallOption func(*call)

// WithIdempotencyKey sets the key of a call whose operation takes one. Without it, each call gets a
// key of its own, and keeps it for all tries.
func WithIdempotencyKey(key string) CallOption {
	return func(c *call) { c.key = key }
}

// WithHeader adds a header to a call.
func WithHeader(name, value string) CallOption {
	return func(c *call) { c.header.Set(name, value) }
}

// Ptr returns a pointer to a value, for optional fields.
func Ptr[T any](value T) *T { return &value }

// call is a request as an operation describes it.
type call struct {
	method string
	path   string
	query  url.Values
	body   any // marshalled as JSON; []byte are sent as they are
	media  string
	keyed  bool // whether the operation takes an Idempotency-Key
	key    string
	header http.Header
	err    error // what is wrong with the arguments
}

// do sends a call and reads the JSON of the response into result; nil reads nothing.
func (c *Client) do(ctx context.Context, request call, result any, options []CallOption) error {
	return c.retried(ctx, request, options, func(ctx context.Context, response *http.Response) error {
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer+1))
		switch {
		case err != nil:
			return request.lost(ctx, err)
		case len(text) > longestAnswer:
			return errors.New("tradewind: the response is too long")
		case result == nil || len(text) == 0:
			return nil
		}
		if err := json.Unmarshal(text, result); err != nil {
			return fmt.Errorf("tradewind: the response cannot be read: %w", err)
		}
		return nil
	})
}

// doFile sends a call and returns the body of the response, which the caller closes.
func (c *Client) doFile(ctx context.Context, request call, options []CallOption) (io.ReadCloser, error) {
	var body io.ReadCloser
	err := c.retried(ctx, request, options, func(_ context.Context, response *http.Response) error {
		body = response.Body
		return nil
	})
	return body, err
}

func (c *Client) retried(
	ctx context.Context, request call, options []CallOption,
	read func(context.Context, *http.Response) error,
) error {
	if request.err != nil {
		return request.err
	}
	request.header = http.Header{}
	for _, option := range options {
		option(&request)
	}
	// One key for all tries: the server acts once, however often it gets the request.
	if request.keyed && request.key == "" {
		request.key = rand.Text()
	}
	body, err := request.encoded()
	if err != nil {
		return err
	}
	for retry := 0; ; retry++ {
		err := c.once(ctx, request, body, read)
		if err == nil {
			return nil
		}
		wait, mayRepeat := c.wait(err, retry, request.keyed || request.method == http.MethodGet)
		if !mayRepeat || retry >= c.MaxRetries || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func (c *Client) once(
	ctx context.Context, request call, body []byte, read func(context.Context, *http.Response) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.Timeout > 0 {
		timer := time.AfterFunc(c.Timeout, func() { cancel(context.DeadlineExceeded) })
		defer timer.Stop()
	}
	prepared, err := request.prepare(ctx, c, body)
	if err != nil {
		cancel(nil)
		return err
	}
	response, err := c.http.Do(prepared)
	if err != nil {
		defer cancel(nil)
		return request.lost(ctx, err)
	}
	response.Body = &cancelling{response.Body, cancel}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		return errorOf(response)
	}
	return read(ctx, response)
}

// cancelling releases the context of a request when its body is closed.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (b *cancelling) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// wait says how long to wait before the next try, and whether there may be one. A request that may
// have been executed is repeated only if that does no harm.
func (c *Client) wait(err error, retry int, isRepeatable bool) (time.Duration, bool) {
	longest := min(longestWait, firstWait<<min(retry, 10))
	wait := longest/2 + time.Duration(mathrand.Int64N(int64(longest/2)+1))
	var failure *Error
	if errors.As(err, &failure) {
		wasRefused := failure.Status == http.StatusTooManyRequests
		mayPass := failure.Status == http.StatusRequestTimeout || failure.Status >= 500
		isRunning := failure.Code == "request_in_flight"
		if !wasRefused && !(isRepeatable && (mayPass || isRunning)) {
			return 0, false
		}
		if failure.RetryAfter > c.MaxRetryAfter {
			return 0, false
		}
		if failure.RetryAfter > 0 {
			wait = failure.RetryAfter
		}
		return wait, true
	}
	var lost *connectionError
	if !errors.As(err, &lost) {
		return 0, false
	}
	var operation *net.OpError
	wasNotSent := errors.As(err, &operation) && operation.Op == "dial"
	return wait, isRepeatable || wasNotSent
}

// lost is the error of a call without a response. The cause that ended its context says more.
func (r *call) lost(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &connectionError{r.method, r.path, err}
}

func (r *call) encoded() ([]byte, error) {
	switch body := r.body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return body, nil
	default:
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("tradewind: the request cannot be written: %w", err)
		}
		return text, nil
	}
}

func (r *call) prepare(ctx context.Context, c *Client, body []byte) (*http.Request, error) {
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	var reader io.Reader
	if r.body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, target, reader)
	if err != nil {
		return nil, fmt.Errorf("tradewind: the request cannot be made: %w", err)
	}
	request.Header = c.header.Clone()
	if r.body != nil {
		request.Header.Set("Content-Type", r.media)
	}
	if r.keyed {
		request.Header.Set(keyHeader, r.key)
	}
	for name, values := range r.header {
		request.Header[name] = values
	}
	// net/http would send a request with an Idempotency-Key again by itself, and count no try.
	request.GetBody = nil
	return request, nil
}

// segment escapes a part of a path. An empty one, or dots, would be the path of something else.
func (r *call) segment(text string) string {
	if text == "" || text == "." || text == ".." {
		r.err = fmt.Errorf("tradewind: %q cannot be part of a path", text)
	}
	return url.PathEscape(text)
}

// doJSON sends a call and reads the JSON of the response.
func doJSON[Result any](ctx context.Context, c *Client, request call, options []CallOption) (*Result, error) {
	result := new(Result)
	if err := c.do(ctx, request, result, options); err != nil {
		return nil, err
	}
	return result, nil
}

// sequence iterates over the items of all pages. An error is its last element.
func sequence[Item any](load func(cursor *string) (items []Item, next *string, err error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var cursor *string
		for {
			items, next, err := load(cursor)
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			cursor = next
		}
	}
}

// nextCursor is the cursor of the next page; nil on the last.
func nextCursor(hasMore bool, cursor *string) *string {
	if !hasMore {
		return nil
	}
	return cursor
}

// set adds a parameter to a query, unless it was left out.
func set[Value any](query url.Values, name string, value *Value) {
	if value != nil {
		query.Add(name, shown(*value))
	}
}

func setAll[Value any](query url.Values, name string, values []Value) {
	for _, value := range values {
		query.Add(name, shown(value))
	}
}

func shown(value any) string {
	switch value := value.(type) {
	case time.Time:
		return value.Format(time.RFC3339Nano)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}
