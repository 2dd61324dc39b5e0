// Receives webhooks over HTTP: verifies, reads, de-duplicates, then calls you.

package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
)

const mostBytes = 256 << 10

// Handler is an http.Handler that receives the webhooks of one URL. Make it with NewHandler.
type Handler struct {
	// Verifier holds the secrets; two while one replaces the other.
	Verifier Verifier
	// OnEvent is called for each new event. Return within ten seconds, and put longer work into a
	// queue of your own. When it fails, the answer is 500 and the event is delivered again.
	OnEvent func(ctx context.Context, event Event, delivery Delivery) error
	// Store decides which events are new: a Memory of this process unless you set your own.
	Store Store
	// MaxBytes limits the body; 256 KiB if it is zero.
	MaxBytes int64
	// OnError gets what OnEvent or Store returned; by default it is logged.
	OnError func(error)
	// OnRefused gets why a webhook was refused: a *VerificationError, or an error of ParseEvent. By
	// default it is logged.
	OnRefused func(error)

	memory Memory // used where Store is nil
}

// NewHandler makes a Handler that remembers in the memory of this process. It panics where a secret is
// empty, as of a setting that is missing: anybody can sign with an empty secret.
func NewHandler(onEvent func(ctx context.Context, event Event, delivery Delivery) error, secrets ...string) *Handler {
	verifier := Verifier{Secrets: secrets}
	if err := verifier.checkSecrets(); err != nil {
		panic(err)
	}
	return &Handler{Verifier: verifier, OnEvent: onEvent}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Webhooks are sent by POST.", http.StatusMethodNotAllowed)
		return
	}
	body, ok := readBody(w, r, h.MaxBytes)
	if !ok {
		return
	}
	status, text := h.receive(r.Context(), r.Header, body)
	if status != http.StatusOK {
		http.Error(w, text, status)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text)
}

func (h *Handler) receive(ctx context.Context, header http.Header, body []byte) (int, string) {
	delivery, err := h.Verifier.Verify(header, body)
	if err != nil {
		var refused *VerificationError
		if errors.As(err, &refused) {
			h.refuse(err)
			return http.StatusUnauthorized, err.Error()
		}
		h.report(err)
		return http.StatusInternalServerError, "The webhook could not be verified."
	}
	event, err := ParseEvent(body)
	if err != nil {
		h.refuse(err)
		return http.StatusBadRequest, err.Error()
	}
	store := h.Store
	if store == nil {
		store = &h.memory
	}
	wasHandled, err := store.Handle(event, func() error { return h.OnEvent(ctx, event, delivery) })
	switch {
	case errors.Is(err, ErrEventInProgress):
		return http.StatusServiceUnavailable, err.Error()
	case err != nil:
		h.report(err)
		return http.StatusInternalServerError, "The event could not be handled."
	case wasHandled:
		return http.StatusOK, "Thank you."
	}
	return http.StatusOK, "It was handled before, or is outdated."
}

func (h *Handler) report(err error) {
	if h.OnError != nil {
		h.OnError(err)
		return
	}
	log.Printf("webhook: %v", err)
}

func (h *Handler) refuse(err error) {
	if h.OnRefused != nil {
		h.OnRefused(err)
		return
	}
	log.Printf("webhook refused: %v", err)
}

// Middleware lets only genuine webhooks through to next, which reads the body as usual. It neither
// de-duplicates nor ignores outdated events: Handler does.
func Middleware(verifier Verifier, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := readBody(w, r, 0)
		if !ok {
			return
		}
		if _, err := verifier.Verify(r.Header, body); err != nil {
			status := http.StatusUnauthorized
			if errors.Is(err, ErrEmptySecret) {
				status = http.StatusInternalServerError
			}
			http.Error(w, err.Error(), status)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// readBody reads the body up to the limit, or answers the request itself.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, bool) {
	if most == 0 {
		most = mostBytes
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		http.Error(w, "The body is too long.", http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "The body could not be read.", http.StatusBadRequest)
	}
	return body, err == nil
}
