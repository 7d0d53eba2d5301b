package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/secret"
)

// SecretPrefix begins every signing secret.
const SecretPrefix = "whsec_"

// Sign makes the value of the header Service-Signature: the time in Unix seconds and,
// for each secret, the HMAC-SHA256 under the whole secret, with its prefix, over
// `<t>.<body>`. Receivers of this form, which is also Stripe's, take the signature if
// one v1 is right.
func Sign(at time.Time, body []byte, secrets ...secret.String) string {
	t := strconv.FormatInt(at.Unix(), 10)
	var header strings.Builder
	header.WriteString("t=" + t)
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s.Reveal()))
		mac.Write([]byte(t + "."))
		mac.Write(body)
		header.WriteString(",v1=" + hex.EncodeToString(mac.Sum(nil)))
	}
	return header.String()
}
