// Package link creates and parses the URLs that SMS providers call with receipts and replies. The token at the end
// of a URL authenticates the provider.
package link

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// The callback paths. Each is followed by a token.
const (
	Prefix      = "/s/"
	ReceiptPath = Prefix + "r/" // receipts of a message
	ReplyPath   = Prefix + "i/" // replies from recipients
)

// OperatorName represents the operator in the token of replies to the operator's provider, and in opt-outs from
// all accounts that use that provider.
const OperatorName = "operator"

// Links creates and verifies tokens: a name, a dot, and 128 bits of HMAC-SHA256 over path and name in
// base64url. The path is part of the hash so that a token for receipts is not valid for replies.
type Links struct {
	base string
	keys [][]byte // the first key creates tokens, all keys verify them
}

// New returns Links below the public URL of an installation. The first key creates tokens; all keys verify
// them.
func New(base string, keys [][]byte) Links { return Links{base, keys} }

// AbsoluteURL returns the absolute URL of a path and query of this installation.
func (l Links) AbsoluteURL(uri string) string { return l.base + uri }

// URL returns the URL of a path with a token for a name.
func (l Links) URL(path, name string) string {
	return l.base + path + name + "." + makeToken(l.keys[0], path, name)
}

// Read returns the name in a token, or an empty string if the token is forged.
func (l Links) Read(path, text string) string {
	name, given, _ := strings.Cut(text, ".")
	genuine := false
	for _, key := range l.keys { // compare with all keys, even after a match, to take constant time
		genuine = hmac.Equal([]byte(given), []byte(makeToken(key, path, name))) || genuine
	}
	if !genuine {
		return ""
	}
	return name
}

func makeToken(key []byte, path, name string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(path + "\n" + name)) // hash.Hash.Write never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// ReceiptURL returns the URL where a provider posts the receipts of a message.
func (l Links) ReceiptURL(messageID string) string { return l.URL(ReceiptPath, messageID) }

// ReplyURL returns the URL where an account's own provider posts replies.
func (l Links) ReplyURL(accountID string) string { return l.URL(ReplyPath, accountID) }
