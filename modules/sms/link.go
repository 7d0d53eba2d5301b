package sms

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// The paths at which providers tell something. A token follows.
const (
	LinkPrefix  = "/s/"
	ReceiptPath = LinkPrefix + "r/" // what became of a message
	ReplyPath   = LinkPrefix + "i/" // what somebody wrote back
)

// operatorName stands for the operator in the token of replies to his provider, and in opt-outs
// for all accounts that send by it.
const operatorName = "operator"

// linker makes and reads tokens: a name, a dot, and in base64url 128 bits of HMAC-SHA256 over path
// and name. The path is in it, so that a token for receipts is none for replies.
type linker struct {
	base string
	keys [][]byte // the first one makes tokens, all are believed
}

func (l linker) url(path, name string) string {
	return l.base + path + name + "." + token(l.keys[0], path, name)
}

// read gives the name of a token; "": it is not genuine.
func (l linker) read(path, text string) string {
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

// ReceiptURL implements handover.Account.
func (s *Service) ReceiptURL(messageID string) string { return s.links.url(ReceiptPath, messageID) }

// ReplyURL is where an account's own provider tells what somebody wrote back.
func (s *Service) ReplyURL(accountID string) string { return s.links.url(ReplyPath, accountID) }
