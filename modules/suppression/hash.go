package suppression

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
)

// hasher makes the hashes that addresses are found by.
type hasher struct {
	keys [][]byte // the first one is for new rows; look-ups try all
}

// fresh is the hash that a new row gets.
func (h hasher) fresh(email string) []byte { return hash(h.keys[0], email) }

// all are the hashes under which a row may be found, fresh first.
func (h hasher) all(email string) [][]byte {
	each := make([][]byte, 0, len(h.keys))
	for _, key := range h.keys {
		each = append(each, hash(key, email))
	}
	return each
}

func hash(key []byte, email string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(canonical(email)))
	return h.Sum(nil)
}

// canonical is the form in which addresses are stored and compared.
func canonical(email string) string { return strings.ToLower(email) }
