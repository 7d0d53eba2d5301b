package suppression

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
)

// hasher computes the hashes by which addresses are found.
type hasher struct {
	keys      [][]byte // new rows use the first one; lookups try all
	mailboxes []string // see Config
}

// fresh returns the hash for a new row.
func (h hasher) fresh(email string) []byte { return h.of(h.keys[0], email) }

// all returns the hashes under which a row may be stored, fresh first.
func (h hasher) all(email string) [][]byte {
	each := make([][]byte, 0, len(h.keys))
	for _, key := range h.keys {
		each = append(each, h.of(key, email))
	}
	return each
}

// of returns the hash under a key.
func (h hasher) of(key []byte, email string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(h.mailbox(canonical(email))))
	return mac.Sum(nil)
}

// mailbox returns the mailbox of a subaddress if both share their entries (Config.Mailboxes), and otherwise
// the address itself.
func (h hasher) mailbox(email string) string {
	for _, mailbox := range h.mailboxes {
		at := strings.LastIndexByte(mailbox, '@')
		if strings.HasPrefix(email, mailbox[:at]+"+") && strings.HasSuffix(email, mailbox[at:]) {
			return mailbox
		}
	}
	return email
}

// canonical returns the form in which addresses are stored and compared.
func canonical(email string) string { return strings.ToLower(email) }
