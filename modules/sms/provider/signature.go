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

// SignatureHeader is the header that contains Twilio's signature.
const SignatureHeader = "X-Twilio-Signature"

// Sign returns Twilio's signature of a form posted to a URL: HMAC-SHA1 over the URL, followed by the names and
// values of the fields, sorted by name.
func Sign(token secret.String, target string, fields url.Values) string {
	mac := hmac.New(sha1.New, []byte(token.Reveal()))
	_, _ = mac.Write([]byte(target)) // hash.Hash.Write never fails
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range slices.Compact(slices.Sorted(slices.Values(fields[name]))) {
			_, _ = mac.Write([]byte(name + value))
		}
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// VerifySignature reports whether a signature is valid.
func VerifySignature(token secret.String, target string, fields url.Values, signature string) bool {
	return !token.IsZero() && hmac.Equal([]byte(Sign(token, target, fields)), []byte(signature))
}
