// Checks this SDK against a file of signature vectors: go run ./cmd/check FILE
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"strconv"
	"time"

	"tradewind.example/sdk/webhook"
)

// Of a longer text, the bytes at the start, at the end and in between are changed, not all.
const mostChanges = 2048

type vector struct {
	ID             string  `json:"id"`
	Secret         *string `json:"secret"`
	Timestamp      *string `json:"timestamp"`
	BodyBase64     *string `json:"body_base64"`
	BodyText       *string `json:"body_text"`
	ExpectedHex    *string `json:"expected_hex"`
	ExpectedHeader *string `json:"expected_header"`

	body       []byte
	signatures []string // what the file says the header is; all must be the same
}

type vectorFile struct {
	Vectors  []*vector `json:"vectors"`
	Negative []struct {
		ID         string  `json:"id"`
		Hex        *string `json:"hex"`
		NotEqualTo string  `json:"not_equal_to"`
	} `json:"negative"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: go run ./cmd/check FILE")
		os.Exit(1)
	}
	report, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(report)
}

func run(path string) (string, error) {
	file, err := read(path)
	if err != nil {
		return "", err
	}
	refused := 0
	byID := map[string]*vector{}
	for _, each := range file.Vectors {
		byID[each.ID] = each
		count, err := each.check()
		if err != nil {
			return "", err
		}
		refused += count
	}
	for _, wrong := range file.Negative {
		of, isKnown := byID[wrong.NotEqualTo]
		if !isKnown || wrong.Hex == nil {
			return "", fmt.Errorf("The negative vector %s is of no vector in the file.", wrong.ID)
		}
		what := "with the signature " + wrong.ID
		if err := of.refuse(what, *of.Secret, *of.Timestamp, of.body, "sha256="+*wrong.Hex); err != nil {
			return "", err
		}
		refused++
	}
	return fmt.Sprintf("%d vectors verify; %d changes of them are refused.", len(file.Vectors), refused), nil
}

func read(path string) (*vectorFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("The file cannot be read: %w", err)
	}
	var file vectorFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s is not a file of vectors: %w", path, err)
	}
	if len(file.Vectors) == 0 {
		return nil, fmt.Errorf("%s has no vectors.", path)
	}
	for number, each := range file.Vectors {
		if each == nil {
			return nil, fmt.Errorf("Vector number %d is empty.", number+1)
		}
		if err := each.complete(number); err != nil {
			return nil, err
		}
	}
	return &file, nil
}

func (v *vector) complete(number int) error {
	if v.ID == "" {
		v.ID = fmt.Sprintf("number %d", number+1)
	}
	switch {
	case v.Secret == nil:
		return fmt.Errorf("Vector %s has no secret.", v.ID)
	case v.Timestamp == nil:
		return fmt.Errorf("Vector %s has no timestamp.", v.ID)
	case v.ExpectedHeader == nil && v.ExpectedHex == nil:
		return fmt.Errorf("Vector %s has no expected_header.", v.ID)
	case v.BodyBase64 == nil && v.BodyText == nil:
		return fmt.Errorf("Vector %s has no body_base64.", v.ID)
	}
	if v.ExpectedHeader != nil {
		v.signatures = append(v.signatures, *v.ExpectedHeader)
	}
	if v.ExpectedHex != nil {
		v.signatures = append(v.signatures, "sha256="+*v.ExpectedHex)
	}
	if v.BodyBase64 == nil {
		v.body = []byte(*v.BodyText)
		return nil
	}
	body, err := base64.StdEncoding.Strict().DecodeString(*v.BodyBase64)
	if err != nil {
		return fmt.Errorf("The body_base64 of vector %s is not base64.", v.ID)
	}
	v.body = body
	return nil
}

// check verifies the vector, then every change of it, and returns how many changes there were.
func (v *vector) check() (int, error) {
	secret, timestamp := *v.Secret, *v.Timestamp
	for _, signature := range v.signatures {
		if err := verify(secret, timestamp, v.body, signature); err != nil {
			return 0, fmt.Errorf("Vector %s does not verify: %w", v.ID, err)
		}
	}
	signature, count := v.signatures[0], 0
	for changed := range changedBytes(v.body, 0x01) {
		count++
		if err := v.refuse("with a changed body", secret, timestamp, changed, signature); err != nil {
			return 0, err
		}
	}
	for _, changed := range changedDigits(timestamp) {
		count++
		if err := v.refuse("with a changed timestamp", secret, changed, v.body, signature); err != nil {
			return 0, err
		}
	}
	for changed := range changedBytes([]byte(secret), 0x01) {
		count++
		if err := v.refuse("with a changed secret", string(changed), timestamp, v.body, signature); err != nil {
			return 0, err
		}
	}
	for _, bit := range []byte{0x01, 0x20} {
		for changed := range changedBytes([]byte(signature), bit) {
			count++
			if err := v.refuse("with a changed signature", secret, timestamp, v.body, string(changed)); err != nil {
				return 0, err
			}
		}
	}
	return count, nil
}

func (v *vector) refuse(what, secret, timestamp string, body []byte, signature string) error {
	err := verify(secret, timestamp, body, signature)
	var refused *webhook.VerificationError
	if errors.As(err, &refused) || errors.Is(err, webhook.ErrEmptySecret) {
		return nil
	}
	return fmt.Errorf("Vector %s %s is accepted.", v.ID, what)
}

// verify runs at the time of the timestamp, so that a change is refused for what it is and not for
// its age.
func verify(secret, timestamp string, body []byte, signature string) error {
	now, _ := strconv.ParseInt(timestamp, 10, 64)
	verifier := webhook.Verifier{
		Secrets: []string{secret},
		Now:     func() time.Time { return time.Unix(now, 0) },
	}
	header := http.Header{}
	header.Set("X-Service-Signature", signature)
	header.Set("X-Service-Timestamp", timestamp)
	_, err := verifier.Verify(header, body)
	return err
}

// changedBytes yields the text with one byte changed, byte after byte.
func changedBytes(text []byte, bit byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(text) == 0 { // there is no byte to change
			yield([]byte{bit})
			return
		}
		count := min(len(text), mostChanges)
		for number := range count {
			at := number
			if len(text) > mostChanges {
				at = number * (len(text) - 1) / (count - 1)
			}
			changed := bytes.Clone(text)
			changed[at] ^= bit
			if !yield(changed) {
				return
			}
		}
	}
}

func changedDigits(text string) []string {
	changes := make([]string, 0, len(text))
	for at := range len(text) {
		changed := []byte(text)
		changed[at] = '0' + (changed[at]-'0'+1)%10
		changes = append(changes, string(changed))
	}
	return changes
}
