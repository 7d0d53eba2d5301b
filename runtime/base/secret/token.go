package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"math/big"
	"strings"
)

const (
	tokenBytes = 32
	// tokenDigits is the length of 256 bits in base 62: ceil(256 / log2 62).
	tokenDigits = 43
)

// NewToken returns a token of 256 random bits in base 62 after a prefix (`svc_…`), and the hash to store in
// its place.
func NewToken(prefix string) (String, []byte) {
	var random [tokenBytes]byte
	rand.Read(random[:]) // crypto/rand never returns an error
	digits := new(big.Int).SetBytes(random[:]).Text(62)
	token := prefix + strings.Repeat("0", tokenDigits-len(digits)) + digits
	return New(token), HashToken(token)
}

// HashToken returns the SHA-256 by which a token is stored and looked up.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
