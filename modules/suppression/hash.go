package suppression

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
)

// hasher makes the hashes that addresses are found by.
type hasher struct {
	keys      [][]byte // the first one is for new rows; look-ups try all
	mailboxes []string // as in Config
}

// fresh is the hash that a new row gets.
func (h hasher) fresh(email string) []byte { return h.of(h.keys[0], email) }

// all are the hashes under which a row may be found, fresh first.
func (h hasher) all(email string) [][]byte {
	each := make([][]byte, 0, len(h.keys))
	for _, key := range h.keys {
		each = append(each, h.of(key, email))
	}
	return each
}

// of is the hash under a key.
func (h hasher) of(key []byte, email string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(h.mailbox(canonical(email))))
	return mac.Sum(nil)
}

// mailbox returns the mailbox that an address is a subaddress of, where the two count as one
// (Config.Mailboxes), else the address itself.
func (h hasher) mailbox(email string) string {
	for _, mailbox := range h.mailboxes {
		at := strings.LastIndexByte(mailbox, '@')
		if strings.HasPrefix(email, mailbox[:at]+"+") && strings.HasSuffix(email, mailbox[at:]) {
			return mailbox
		}
	}
	return email
}

// canonical is the form in which addresses are stored and compared.
func canonical(email string) string { return strings.ToLower(email) }
