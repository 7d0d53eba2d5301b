// Package webhooksig signs the requests to webhook endpoints, and verifies such signatures.
//
// The header is `Service-Signature: t=<unix seconds>,v1=<hex>`, where v1 is HMAC-SHA256 with the endpoint's
// secret (the whole string `whsec_…`) over `<t>.<raw body>`. While a secret is being rotated there is one v1
// for each secret, and one match is enough. A receiver must use the raw body, before parsing it, and reject a
// time that is more than five minutes from its clock: that limits how long an intercepted request can be
// replayed.
//
// This is Stripe's scheme under another header name, so that Stripe's libraries can verify it.
// testdata/vectors.json contains requests to accept and to reject.
//
// Requests are also signed according to Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature),
// which the libraries standardwebhooks, svix and resend verify.
package webhooksig

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Header is the header field with the signature.
const Header = "Service-Signature"

// Tolerance is the maximum difference between the time of a signature and the receiver's clock.
const Tolerance = 5 * time.Minute

// The reasons why a signature is rejected.
var (
	ErrMalformed = errors.New("webhook signature: the header has no time or no v1 signature")
	ErrTime      = errors.New("webhook signature: the time is too far from now")
	ErrMismatch  = errors.New("webhook signature: no signature matches this body and secret")
)

// Sign returns the value of the header: one v1 for each secret, in order.
func Sign(secrets []string, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	var header strings.Builder
	header.WriteString("t=" + stamp)
	for _, secret := range secrets {
		header.WriteString(",v1=" + computeDigest(secret, stamp, body))
	}
	return header.String()
}

// Verify returns an error unless the header's value is a signature of the body by the secret, and recent at
// now. It ignores schemes other than v1.
func Verify(secret, header string, body []byte, now time.Time) error {
	var stamp string
	var signatures []string
	for part := range strings.SplitSeq(header, ",") {
		switch key, value, _ := strings.Cut(part, "="); key {
		case "t":
			stamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	unix, err := strconv.ParseUint(stamp, 10, 40) // 34,865 years; without a sign
	if err != nil || len(signatures) == 0 {
		return ErrMalformed
	}
	if now.Sub(time.Unix(int64(unix), 0)).Abs() > Tolerance {
		return ErrTime
	}
	want := []byte(computeDigest(secret, stamp, body))
	for _, got := range signatures {
		if hmac.Equal(want, []byte(got)) {
			return nil
		}
	}
	return ErrMismatch
}

func computeDigest(secret, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
