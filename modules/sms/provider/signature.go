package provider

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio signs with HMAC-SHA1
	"encoding/base64"
	"maps"
	"net/url"
	"slices"

	"github.com/postrider/postrider/runtime/base/secret"
)

// SignatureHeader is where Twilio puts its signature.
const SignatureHeader = "X-Twilio-Signature"

// Sign gives Twilio's signature of a form that is posted to a URL: HMAC-SHA1 over the URL and,
// in the order of their names, the names and values of the fields.
func Sign(token secret.String, target string, fields url.Values) string {
	mac := hmac.New(sha1.New, []byte(token.Reveal()))
	_, _ = mac.Write([]byte(target)) // a hash fails at nothing
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range slices.Compact(slices.Sorted(slices.Values(fields[name]))) {
			_, _ = mac.Write([]byte(name + value))
		}
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Signed tells whether a signature is genuine.
func Signed(token secret.String, target string, fields url.Values, signature string) bool {
	return !token.IsZero() && hmac.Equal([]byte(Sign(token, target, fields)), []byte(signature))
}
