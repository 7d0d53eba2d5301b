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

// newHash returns the hash for a new row.
func (h hasher) newHash(email string) []byte { return h.hashWith(h.keys[0], email) }

// allHashes returns the hashes under which a row may be stored, fresh first.
func (h hasher) allHashes(email string) [][]byte {
	each := make([][]byte, 0, len(h.keys))
	for _, key := range h.keys {
		each = append(each, h.hashWith(key, email))
	}
	return each
}

// hashWith returns the hash with a key.
func (h hasher) hashWith(key []byte, email string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(h.mailbox(canonicalAddress(email))))
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

// canonicalAddress returns the form in which addresses are stored and compared.
func canonicalAddress(email string) string { return strings.ToLower(email) }
