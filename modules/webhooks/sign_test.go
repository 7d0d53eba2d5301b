package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/secret"
)

// computeSignature computes the signature header as a receiver would, following the documentation.
func computeSignature(t testing.TB, got receivedPost, tokens ...secret.String) string {
	t.Helper()
	stamp, _, found := strings.Cut(strings.TrimPrefix(got.header.Get("Service-Signature"), "t="), ",")
	if !found {
		t.Fatalf("signature header %s has no timestamp", got.header.Get("Service-Signature"))
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
