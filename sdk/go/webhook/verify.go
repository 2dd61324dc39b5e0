// Verifies a webhook: the signature over the raw body, and how long ago it was sent.

package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the sender's clock and ours may be apart, either way.
const Tolerance = 300 * time.Second

const (
	signatureHeader = "X-Service-Signature"
	timestampHeader = "X-Service-Timestamp"
	deliveryHeader  = "X-Service-Delivery"
	eventHeader     = "X-Service-Event"

	signaturePrefix = "sha256="
	longestTime     = 15
)

// VerificationFailure names what is wrong with a webhook.
type VerificationFailure string

// What can be wrong with a webhook.
const (
	SignatureMissing   VerificationFailure = "signature_missing"
	SignatureMalformed VerificationFailure = "signature_malformed"
	TimestampMissing   VerificationFailure = "timestamp_missing"
	TimestampMalformed VerificationFailure = "timestamp_malformed"
	SignatureWrong     VerificationFailure = "signature_wrong"
	TimestampTooOld    VerificationFailure = "timestamp_too_old"
	TimestampTooNew    VerificationFailure = "timestamp_too_new"
)

var sentences = map[VerificationFailure]string{
	SignatureMissing:   "There is no " + signatureHeader + " header.",
	SignatureMalformed: signatureHeader + " is not sha256= and 64 lower-case hex digits.",
	TimestampMissing:   "There is no " + timestampHeader + " header.",
	TimestampMalformed: timestampHeader + " is not a number of seconds.",
	SignatureWrong: "The signature does not match the body. Verify the raw bytes as they were received, before " +
		"any parsing, with the whole secret, whsec_ included.",
	TimestampTooOld: "The webhook was sent too long ago.",
	TimestampTooNew: "The webhook was sent in the future; is this machine's clock right?",
}

// VerificationError is the error of a webhook that must not be trusted. Reason says which check failed.
type VerificationError struct {
	Reason VerificationFailure
}

func (e *VerificationError) Error() string { return sentences[e.Reason] }

// ErrEmptySecret is returned where a secret is empty: anybody can sign with it.
var ErrEmptySecret = errors.New("webhook: a secret is empty, and anybody can sign with an empty " +
	"secret; pass the whole secret of the webhook, whsec_ included")

// Delivery is what the headers of a genuine webhook say. Only Timestamp and the body are signed.
type Delivery struct {
	Timestamp time.Time // when it was sent
	ID        string    // the id of this attempt; it differs for every retry
	Event     string    // the name of the event
}

// Verifier checks webhooks. The zero value of Tolerance and Now stands for the usual: 300 seconds
// and the clock of this machine.
type Verifier struct {
	// Secrets are all that may have signed: two while one replaces the other.
	Secrets   []string
	Tolerance time.Duration
	Now       func() time.Time
}

// String leaves the secrets out, so that they do not end up in a log.
func (v Verifier) String() string { return fmt.Sprintf("verifier with %d secrets", len(v.Secrets)) }

// GoString is String.
func (v Verifier) GoString() string { return v.String() }

// Verify checks a webhook with the usual tolerance and this machine's clock. Pass the body exactly
// as it was received, and several secrets while one replaces another. The error is *VerificationError, or
// ErrEmptySecret.
func Verify(header http.Header, body []byte, secrets ...string) (Delivery, error) {
	return Verifier{Secrets: secrets}.Verify(header, body)
}

// Verify checks a webhook. The time is compared only when the signature is right, so a webhook that
// is too old was genuine once.
func (v Verifier) Verify(header http.Header, body []byte) (Delivery, error) {
	if err := v.checkSecrets(); err != nil {
		return Delivery{}, err
	}
	signature, isSigned := headerValue(header, signatureHeader)
	timestamp, isTimed := headerValue(header, timestampHeader)
	switch {
	case !isSigned:
		return Delivery{}, &VerificationError{SignatureMissing}
	case !isSignature(signature):
		return Delivery{}, &VerificationError{SignatureMalformed}
	case !isTimed:
		return Delivery{}, &VerificationError{TimestampMissing}
	case len(timestamp) > longestTime || !isDigits(timestamp):
		return Delivery{}, &VerificationError{TimestampMalformed}
	case !isSignedByAny(v.Secrets, signature, timestamp, body):
		return Delivery{}, &VerificationError{SignatureWrong}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return Delivery{}, &VerificationError{TimestampMalformed}
	}
	if check := v.checkTime(seconds); check != "" {
		return Delivery{}, &VerificationError{check}
	}
	id, _ := headerValue(header, deliveryHeader)
	event, _ := headerValue(header, eventHeader)
	return Delivery{Timestamp: time.Unix(seconds, 0).UTC(), ID: id, Event: event}, nil
}

// Sign returns the value of X-Service-Signature for a body, for tests of your own endpoint.
func Sign(secret string, timestamp int64, body []byte) string {
	return signatureOf(secret, strconv.FormatInt(timestamp, 10), body)
}

func (v Verifier) checkSecrets() error {
	if len(v.Secrets) == 0 {
		return ErrEmptySecret
	}
	for _, secret := range v.Secrets {
		if strings.TrimSpace(secret) == "" {
			return ErrEmptySecret
		}
	}
	return nil
}

// checkTime compares in seconds: a Duration cannot hold the distance to every timestamp.
func (v Verifier) checkTime(sent int64) VerificationFailure {
	now, tolerance := time.Now, v.Tolerance
	if v.Now != nil {
		now = v.Now
	}
	if tolerance == 0 {
		tolerance = Tolerance
	}
	moment := now()
	age := float64(moment.Unix()-sent) + float64(moment.Nanosecond())/float64(time.Second)
	switch {
	case age > tolerance.Seconds():
		return TimestampTooOld
	case age < -tolerance.Seconds():
		return TimestampTooNew
	}
	return ""
}

func signatureOf(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp))
	mac.Write([]byte("."))
	mac.Write(body)
	return signaturePrefix + hex.EncodeToString(mac.Sum(nil))
}

// isSignedByAny compares in constant time with every secret, whether or not one has fitted already.
func isSignedByAny(secrets []string, signature, timestamp string, body []byte) bool {
	fits := false
	for _, secret := range secrets {
		expected := signatureOf(secret, timestamp, body)
		if hmac.Equal([]byte(signature), []byte(expected)) {
			fits = true
		}
	}
	return fits
}

// headerValue finds a header in any case; several of one name are no value that can be right.
func headerValue(header http.Header, name string) (string, bool) {
	if values, ok := header[name]; ok {
		return strings.Join(values, ", "), len(values) > 0
	}
	for key, values := range header {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return strings.Join(values, ", "), true
		}
	}
	return "", false
}

func isSignature(text string) bool {
	digits, isPrefixed := strings.CutPrefix(text, signaturePrefix)
	if !isPrefixed || len(digits) != hex.EncodedLen(sha256.Size) {
		return false
	}
	for _, c := range []byte(digits) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}
