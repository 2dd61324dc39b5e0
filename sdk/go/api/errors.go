// What can go wrong with a call of the API.

package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const longestProblem = 1 << 20

// The families of errors, for errors.Is.
var (
	ErrNotAuthenticated = errors.New("the key or token is missing, wrong or expired")              // 401
	ErrNotAllowed       = errors.New("the account is locked, or not allowed to do it")             // 403
	ErrNotFound         = errors.New("there is no such thing, or it is another account's")         // 404
	ErrConflict         = errors.New("the present state does not allow it")                        // 409
	ErrInvalidRequest   = errors.New("the request is invalid")                                     // 422
	ErrRateLimited      = errors.New("there were too many requests")                               // 429
	ErrServerFailed     = errors.New("the server failed")                                          // 5xx
	ErrConnectionFailed = errors.New("there was no response: not reachable, too slow, or cut off") // none
)

// Error is an error that the server answered with. Code is stable: compare it.
type Error struct {
	Problem
	// RetryAfter is how long to wait before another try; zero where the server does not say.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	return fmt.Sprintf("tradewind: %s (%d %s, request %s)", e.Detail, e.Status, e.Code, e.RequestID)
}

// Is lets errors.Is find the family of the error.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrNotAuthenticated:
		return e.Status == http.StatusUnauthorized
	case ErrNotAllowed:
		return e.Status == http.StatusForbidden
	case ErrNotFound:
		return e.Status == http.StatusNotFound
	case ErrConflict:
		return e.Status == http.StatusConflict
	case ErrInvalidRequest:
		return e.Status == http.StatusUnprocessableEntity
	case ErrRateLimited:
		return e.Status == http.StatusTooManyRequests
	case ErrServerFailed:
		return e.Status >= 500
	}
	return false
}

// connectionError is the error of a request without a response.
type connectionError struct {
	method, path string
	cause        error
}

func (e *connectionError) Error() string {
	return fmt.Sprintf("tradewind: %s %s got no response: %v", e.method, e.path, e.cause)
}

func (e *connectionError) Unwrap() []error { return []error{ErrConnectionFailed, e.cause} }

// errorOf reads the problem document (RFC 9457) of a response.
func errorOf(response *http.Response) error {
	failure := &Error{}
	text, _ := io.ReadAll(io.LimitReader(response.Body, longestProblem))
	// If it is none, something between the client and the server answered.
	if json.Unmarshal(text, &failure.Problem) != nil {
		failure.Problem = Problem{}
	}
	failure.Status = response.StatusCode
	if failure.Detail == "" {
		failure.Detail = fmt.Sprintf("The server answered with status %d.", response.StatusCode)
	}
	if failure.RequestID == "" {
		failure.RequestID = response.Header.Get("X-Request-Id")
	}
	failure.RetryAfter = retryAfter(response.Header.Get("Retry-After"))
	if failure.RetryAfter == 0 && failure.Problem.RetryAfter != nil {
		failure.RetryAfter = time.Duration(*failure.Problem.RetryAfter) * time.Second
	}
	return failure
}

// retryAfter reads both forms of the header: seconds, and a date.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if moment, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(moment))
	}
	return 0
}
