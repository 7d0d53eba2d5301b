// Package webhooksig signs what Postrider posts to webhook endpoints, and checks
// such signatures.
//
// The header is `Service-Signature: t=<unix seconds>,v1=<hex>`, where v1 is
// HMAC-SHA256 with the endpoint's secret (the whole string `whsec_…`) over
// `<t>.<raw body>`. While a secret is being changed there is one v1 for each
// secret, and one that fits is enough. A receiver takes the body as it came,
// before it parses it, and refuses a time that is more than five minutes from
// its clock: that bounds for how long a request that was overheard is of use.
//
// This is Stripe's scheme under another header name, so that Stripe's libraries
// can check it. testdata/vectors.json has requests to accept and to refuse.
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

// Header carries the signature.
const Header = "Service-Signature"

// Tolerance is how far the time of a signature may be from the receiver's clock.
const Tolerance = 5 * time.Minute

// Why a signature is refused.
var (
	ErrMalformed = errors.New("webhook signature: the header has no time or no v1 signature")
	ErrTime      = errors.New("webhook signature: made at a time too far from now")
	ErrMismatch  = errors.New("webhook signature: none of the signatures is of this body by this secret")
)

// Sign makes the header's value: one v1 for each secret, in their order.
func Sign(secrets []string, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	var header strings.Builder
	header.WriteString("t=" + stamp)
	for _, secret := range secrets {
		header.WriteString(",v1=" + digest(secret, stamp, body))
	}
	return header.String()
}

// Verify tells whether the header's value is of the body by the secret, and
// recent at now. Schemes other than v1 are passed over.
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
	unix, err := strconv.ParseUint(stamp, 10, 40) // 34,865 years; without sign
	if err != nil || len(signatures) == 0 {
		return ErrMalformed
	}
	if now.Sub(time.Unix(int64(unix), 0)).Abs() > Tolerance {
		return ErrTime
	}
	want := []byte(digest(secret, stamp, body))
	for _, got := range signatures {
		if hmac.Equal(want, []byte(got)) {
			return nil
		}
	}
	return ErrMismatch
}

func digest(secret, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
