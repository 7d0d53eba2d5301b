package secret

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	aead "github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// The errors of Open.
var (
	// ErrUnknownKey means that the value was sealed under a master key that is not configured.
	ErrUnknownKey = errors.New("sealed under a master key that is not configured")
	// ErrNotGenuine means that the value was changed, truncated, or sealed for other associated data.
	ErrNotGenuine = errors.New("sealed value is damaged or belongs elsewhere")
)

// A sealed value consists of: version (1 byte), key id (4), nonce (12), ciphertext, tag (16).
const (
	version    = 1
	headerSize = 1 + 4
)

// Box encrypts and decrypts with the master keys. It is safe for concurrent use.
type Box struct {
	materials []String // of all keys, the sealing key first
	first     uint32
	ciphers   map[uint32]*aead.AESGCM
}

// NewBox returns a new Box for the master keys, the sealing key first.
func NewBox(keys ...Key) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("secret box without a master key")
	}
	box := &Box{ciphers: make(map[uint32]*aead.AESGCM, len(keys))}
	for i, key := range keys {
		if len(key.material.Reveal()) != KeySize {
			return nil, fmt.Errorf("master key %d must have %d bytes", i+1, KeySize)
		}
		id := binary.BigEndian.Uint32(deriveKey(key.material, "key id", 4))
		if _, taken := box.ciphers[id]; taken {
			return nil, fmt.Errorf("master key %d has the id of an earlier one; create another", i+1)
		}
		cipher, err := aead.NewAESGCM(deriveKey(key.material, "seal", KeySize))
		if err != nil {
			return nil, fmt.Errorf("master key %d: %w", i+1, err)
		}
		box.ciphers[id] = cipher
		box.materials = append(box.materials, key.material)
		if i == 0 {
			box.first = id
		}
	}
	return box, nil
}

// Seal encrypts under the first key. The associated data (for example "domains/dom_…/dkim") is not stored:
// Open needs the same data again.
func (b *Box) Seal(plaintext, associatedData []byte) []byte {
	sealed, err := b.ciphers[b.first].Encrypt(plaintext, associatedData)
	if err != nil {
		// AES-GCM fails only for plaintexts of 64 GiB.
		panic("secret: seal: " + err.Error())
	}
	out := make([]byte, headerSize, headerSize+len(sealed))
	out[0] = version
	binary.BigEndian.PutUint32(out[1:], b.first)
	return append(out, sealed...)
}

// Open decrypts a value that Seal returned, under any of the keys and for the same associated data. Its
// error is ErrUnknownKey or ErrNotGenuine.
func (b *Box) Open(sealed, associatedData []byte) ([]byte, error) {
	id, known := keyID(sealed)
	if !known {
		return nil, ErrNotGenuine
	}
	cipher, known := b.ciphers[id]
	if !known {
		return nil, fmt.Errorf("key id %08x: %w", id, ErrUnknownKey)
	}
	plaintext, err := cipher.Decrypt(sealed[headerSize:], associatedData)
	if err != nil {
		return nil, ErrNotGenuine
	}
	return plaintext, nil
}

// Derive returns 32 bytes for one purpose (for example "cursor"). They depend only on the first key, and
// reveal neither that key nor the bytes of another purpose. Values made with them become invalid when the
// first key is rotated.
func (b *Box) Derive(purpose string) []byte {
	return deriveKey(b.materials[0], "purpose/"+purpose, KeySize)
}

// DeriveEach returns the bytes of one purpose for every key, the first key's first, so that values made
// with an older key can be recognized while that key is configured.
func (b *Box) DeriveEach(purpose string) [][]byte {
	each := make([][]byte, 0, len(b.materials))
	for _, material := range b.materials {
		each = append(each, deriveKey(material, "purpose/"+purpose, KeySize))
	}
	return each
}

func keyID(sealed []byte) (uint32, bool) {
	if len(sealed) < headerSize || sealed[0] != version {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:headerSize]), true
}

// deriveKey is HKDF-SHA256 (RFC 5869) without salt: a master key is uniformly random.
func deriveKey(material String, info string, size int) []byte {
	out, err := hkdf.Key(sha256.New, []byte(material.Reveal()), nil, "postrider/"+info, size)
	if err != nil {
		// Fails only for a size over 255 hashes, or under a FIPS policy against short keys.
		panic("secret: derive: " + err.Error())
	}
	return out
}
