package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/secret"
)

// resigned is the header that the receiver of a POST computes for itself, by the
// steps that the contract gives it.
func resigned(t testing.TB, got heard, tokens ...secret.String) string {
	t.Helper()
	stamp, _, found := strings.Cut(strings.TrimPrefix(got.header.Get("Service-Signature"), "t="), ",")
	if !found {
		t.Fatalf("signature is %s", got.header.Get("Service-Signature"))
	}
	var out strings.Builder
	out.WriteString("t=" + stamp)
	for _, token := range tokens {
		mac := hmac.New(sha256.New, []byte(token.Reveal()))
		mac.Write([]byte(stamp + "." + got.body))
		out.WriteString(",v1=" + hex.EncodeToString(mac.Sum(nil)))
	}
	return out.String()
}
