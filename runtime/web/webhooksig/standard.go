package webhooksig

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// SecretPrefix is the prefix of every secret.
const SecretPrefix = "whsec_"

// Header fields of Standard Webhooks (standardwebhooks.com).
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// Sizes of the key in a secret: of new ones, and the limits of the standard.
const (
	secretBytes = 32
	minBytes    = 24
	maxBytes    = 64
)

// NewSecret returns a new secret: the prefix, and 32 random bytes in standard base64.
func NewSecret() string {
	var key [secretBytes]byte
	rand.Read(key[:]) // crypto/rand never returns an error
	return FormatSecret(key[:])
}

// FormatSecret returns the secret that contains a key.
func FormatSecret(key []byte) string { return SecretPrefix + base64.StdEncoding.EncodeToString(key) }

// keyOf returns the key in a secret. Secrets of earlier releases contain none.
func keyOf(secret string) ([]byte, bool) {
	encoded, ok := strings.CutPrefix(secret, SecretPrefix)
	if !ok {
		return nil, false
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return key, err == nil && len(key) >= minBytes && len(key) <= maxBytes
}

// SetHeaders signs a request in both schemes: Service-Signature, and Standard Webhooks with `v1,<base64>` of
// HMAC-SHA256 over `<id>.<t>.<body>`, keyed with the decoded secret, one for each secret and separated by
// spaces. The id is that of the event, and stays the same when the request is repeated. A secret of an
// earlier release signs only with the first scheme.
func SetHeaders(header http.Header, id string, secrets []string, at time.Time, body []byte) {
	header.Set(Header, Sign(secrets, at, body))
	stamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, secret := range secrets {
		key, ok := keyOf(secret)
		if !ok {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if len(signatures) == 0 {
		return
	}
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, stamp)
	header.Set(HeaderSignature, strings.Join(signatures, " "))
}
