package page

import (
	"crypto/aes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Hide returns the opaque id of an item for its account and list. Row numbers would reveal the activity of
// the whole installation, so they are not shown. The same number always has the same id, and a different one
// in every other account and list.
func (c *Codec) Hide(l List, number int64) string {
	var block [aes.BlockSize]byte
	binary.BigEndian.PutUint64(block[:8], uint64(number))
	copy(block[8:], c.computeMAC(l, "hidden"))
	cipher, err := aes.NewCipher(c.hidingKey())
	if err != nil {
		panic("page: a hash is not a valid key: " + err.Error())
	}
	cipher.Encrypt(block[:], block[:])
	return base64.RawURLEncoding.EncodeToString(block[:])
}

// Reveal returns the number that an id hides. It returns false for an id of another list or account.
func (c *Codec) Reveal(l List, id string) (number int64, ok bool) {
	block, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil || len(block) != aes.BlockSize {
		return 0, false
	}
	cipher, err := aes.NewCipher(c.hidingKey())
	if err != nil {
		panic("page: a hash is not a valid key: " + err.Error())
	}
	cipher.Decrypt(block, block)
	if !hmac.Equal(block[8:], c.computeMAC(l, "hidden")[:8]) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(block[:8])), true
}

func (c *Codec) hidingKey() []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte("hidden numbers"))
	return h.Sum(nil)
}
