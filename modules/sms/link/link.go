// Package link creates and parses the URLs that SMS providers call with receipts and replies. The token at the end
// of a URL authenticates the provider.
package link

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// The paths at which providers tell something. A token follows.
const (
	Prefix      = "/s/"
	ReceiptPath = Prefix + "r/" // what became of a message
	ReplyPath   = Prefix + "i/" // what somebody wrote back
)

// OperatorName stands for the operator in the token of replies to his provider, and in opt-outs
// for all accounts that send by it.
const OperatorName = "operator"

// Links makes and reads tokens: a name, a dot, and in base64url 128 bits of HMAC-SHA256 over path
// and name. The path is in it, so that a token for receipts is none for replies.
type Links struct {
	base string
	keys [][]byte // the first one makes tokens, all are believed
}

// New makes links below the public URL of an installation. The first key makes tokens, all keys are
// believed.
func New(base string, keys [][]byte) Links { return Links{base, keys} }

// At gives the whole URL of a path and query of this installation.
func (l Links) At(uri string) string { return l.base + uri }

// URL gives the URL of a path for a name.
func (l Links) URL(path, name string) string {
	return l.base + path + name + "." + token(l.keys[0], path, name)
}

// Read gives the name of a token; "": it is not genuine.
func (l Links) Read(path, text string) string {
	name, given, _ := strings.Cut(text, ".")
	genuine := false
	for _, key := range l.keys { // all, whether or not an earlier one fits
		genuine = hmac.Equal([]byte(given), []byte(token(key, path, name))) || genuine
	}
	if !genuine {
		return ""
	}
	return name
}

func token(key []byte, path, name string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(path + "\n" + name)) // a hash fails at nothing
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// ReceiptURL is where a provider tells what became of a message.
func (l Links) ReceiptURL(messageID string) string { return l.URL(ReceiptPath, messageID) }

// ReplyURL is where an account's own provider tells what somebody wrote back.
func (l Links) ReplyURL(accountID string) string { return l.URL(ReplyPath, accountID) }
