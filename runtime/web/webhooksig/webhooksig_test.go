package webhooksig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// vector is one request as received.
type vector struct {
	Name   string `json:"name"`
	Secret string `json:"secret"`
	Header string `json:"header"`
	Body   string `json:"body"`
	Now    int64  `json:"now"` // the receiver's clock, unix seconds
	Valid  bool   `json:"valid"`
	Why    string `json:"why"` // malformed, time, mismatch; empty if valid
}

const (
	secret = "whsec_5xQvT2mB9nK4rW7yZ1cF6hJ3pL8sD0aG"
	older  = "whsec_a0Dd8sL3pJ6hF1cZ7yW4rK9nB2mT5vQx"
	signed = 1768469400 // 2026-01-15T09:30:00Z
	body   = `{"type":"email.delivered","created_at":"2026-01-15T09:30:00.000Z","data":{"email_id":"msg_01kf0m4w7he6x8q2v5b3n9c1ta","recipient":"bob@example.net"}}`
)

func vectors() []vector {
	at := time.Unix(signed, 0)
	sign := func(body string, secrets ...string) string { return webhooksig.Sign(secrets, at, []byte(body)) }
	good := sign(body, secret)
	mac := strings.TrimPrefix(good, "t=1768469400,")
	unicode := "{\n  \"subject\": \"Grüße, 你好 👋\", \"html\": \"<p>\\u003c</p>\"\r\n}\n"
	return []vector{
		{"as signed", secret, good, body, signed, true, ""},
		{"another alphabet, spaces and line ends in the body", secret, sign(unicode, secret), unicode, signed, true, ""},
		{"empty body", secret, sign("", secret), "", signed, true, ""},
		{"four minutes later", secret, good, body, signed + 240, true, ""},
		{"five minutes later", secret, good, body, signed + 300, true, ""},
		{"the receiver's clock is four minutes behind", secret, good, body, signed - 240, true, ""},
		{"two secrets, the receiver has the new one", secret, sign(body, secret, older), body, signed, true, ""},
		{"two secrets, the receiver has the old one", older, sign(body, secret, older), body, signed, true, ""},
		{"a scheme that the receiver does not know", secret, good + ",v2=0badc0de", body, signed, true, ""},
		{"another order", secret, mac + ",t=1768469400", body, signed, true, ""},

		{"more than five minutes later", secret, good, body, signed + 301, false, "time"},
		{"more than five minutes early", secret, good, body, signed - 301, false, "time"},
		{"another secret", older, good, body, signed, false, "mismatch"},
		{"the secret without its prefix", strings.TrimPrefix(secret, "whsec_"), good, body, signed, false, "mismatch"},
		{"one letter of the body differs", secret, good, strings.Replace(body, "bob", "rob", 1), signed, false, "mismatch"},
		{"parsed and written again", secret, good, strings.ReplaceAll(body, ":\"", ": \""), signed, false, "mismatch"},
		{"a line end was added to the body", secret, good, body + "\n", signed, false, "mismatch"},
		{"another time than was signed", secret, "t=1768469401," + mac, body, signed, false, "mismatch"},
		{"a signature that was cut", secret, good[:len(good)-2], body, signed, false, "mismatch"},
		{"an empty signature", secret, "t=1768469400,v1=", body, signed, false, "mismatch"},
		{"a signature that is longer", secret, good + "00", body, signed, false, "mismatch"},
		{"not hexadecimal", secret, "t=1768469400,v1=" + strings.Repeat("zz", 32), body, signed, false, "mismatch"},
		{"the right signature under another scheme", secret, strings.Replace(good, "v1=", "v0=", 1), body, signed, false, "malformed"},
		{"no time", secret, mac, body, signed, false, "malformed"},
		{"a time that is not a number", secret, "t=soon," + mac, body, signed, false, "malformed"},
		{"a number with a tail", secret, "t=1768469400s," + mac, body, signed, false, "malformed"},
		{"a negative time", secret, "t=-1768469400," + mac, body, signed, false, "malformed"},
		{"no signature", secret, "t=1768469400", body, signed, false, "malformed"},
		{"no commas", secret, strings.Replace(good, ",", ";", 1), body, signed, false, "malformed"},
		{"an empty header", secret, "", body, signed, false, "malformed"},
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	why := map[string]error{"malformed": webhooksig.ErrMalformed, "time": webhooksig.ErrTime,
		"mismatch": webhooksig.ErrMismatch}
	for _, v := range vectors() {
		err := webhooksig.Verify(v.Secret, v.Header, []byte(v.Body), time.Unix(v.Now, 0))
		if (err == nil) != v.Valid || !errors.Is(err, why[v.Why]) {
			t.Errorf("%s: %v, want %q", v.Name, err, v.Why)
		}
	}
}

// The vectors are given to receivers in other languages, so they do not change.
func TestVectorsFile(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	encoder := json.NewEncoder(&file)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(vectors()); err != nil {
		t.Fatal(err)
	}
	expect.Golden(t, "vectors.json", file.String())
}

func FuzzVerify(f *testing.F) {
	for _, v := range vectors() {
		f.Add(v.Header, v.Body)
	}
	f.Fuzz(func(t *testing.T, header, body string) {
		now := time.Unix(signed, 0)
		if webhooksig.Verify("whsec_unknown", header, []byte(body), now) == nil {
			t.Errorf("%q was accepted", header)
		}
		if err := webhooksig.Verify(header, webhooksig.Sign([]string{"other", header}, now, []byte(body)), []byte(body),
			now); err != nil {
			t.Errorf("own signature: %v", err)
		}
	})
}
