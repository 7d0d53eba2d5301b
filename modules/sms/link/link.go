// Package link creates and parses the URLs that SMS providers call with receipts and replies. The token at the end
// of a URL authenticates the provider.
package link

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// The paths of callbacks, each followed by a token.
const (
	Prefix      = "/s/"
	ReceiptPath = Prefix + "r/" // receipts of a message
	ReplyPath   = Prefix + "i/" // replies of recipients
)

// OperatorName represents the operator in the token of replies to the operator's provider, and in opt-outs for
// all accounts that use that provider.
const OperatorName = "operator"

// Links creates and verifies tokens: a name, a dot, and 128 bits of HMAC-SHA256 over path and name in
// base64url. The path is included, so that a token for receipts is not valid for replies.
type Links struct {
	base string
	keys [][]byte // the first key creates tokens, all keys verify them
}

// New returns Links below the public URL of an installation. The first key creates tokens, all keys verify
// them.
func New(base string, keys [][]byte) Links { return Links{base, keys} }

// At returns the complete URL of a path and query of this installation.
func (l Links) At(uri string) string { return l.base + uri }

// URL returns the URL of a path with the token of a name.
func (l Links) URL(path, name string) string {
	return l.base + path + name + "." + makeToken(l.keys[0], path, name)
}

// Read returns the name in a token, or an empty string if the token is forged.
func (l Links) Read(path, text string) string {
	name, given, _ := strings.Cut(text, ".")
	genuine := false
	for _, key := range l.keys { // compare with all keys, even after a match
		genuine = hmac.Equal([]byte(given), []byte(makeToken(key, path, name))) || genuine
	}
	if !genuine {
		return ""
	}
	return name
}

func makeToken(key []byte, path, name string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(path + "\n" + name)) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// ReceiptURL returns the URL that a provider posts the receipts of a message to.
func (l Links) ReceiptURL(messageID string) string { return l.URL(ReceiptPath, messageID) }

// ReplyURL returns the URL that an account's own provider posts replies to.
func (l Links) ReplyURL(accountID string) string { return l.URL(ReplyPath, accountID) }
