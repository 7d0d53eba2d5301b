package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// KeySize is the length of a master key in bytes.
const KeySize = 32

// Key is a master key. It cannot be printed.
type Key struct{ material String }

// NewKey returns a new random master key.
func NewKey() Key {
	var random [KeySize]byte
	rand.Read(random[:]) // crypto/rand never returns an error
	return Key{material: New(string(random[:]))}
}

// Setting returns the key in the format that ParseKeys reads.
func (k Key) Setting() String {
	return New(base64.StdEncoding.EncodeToString([]byte(k.material.Reveal())))
}

// ParseKeys reads master keys from a setting: each the base64 encoding of 32 bytes, separated by commas,
// the sealing key first. It reports every invalid key by its position and never by its text.
func ParseKeys(setting String) ([]Key, error) {
	if strings.TrimSpace(setting.Reveal()) == "" {
		return nil, errors.New("no master key; create one with `openssl rand -base64 32`")
	}
	parts := strings.Split(setting.Reveal(), ",")
	keys := make([]Key, 0, len(parts))
	var wrong []error
	for i, part := range parts {
		key, err := parseKey(part)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("key %d of %d %w", i+1, len(parts), err))
			continue
		}
		keys = append(keys, key)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	for i := range keys {
		for j := range i {
			if keys[i].material.Equal(keys[j].material) {
				return nil, fmt.Errorf("key %d repeats key %d", i+1, j+1)
			}
		}
	}
	return keys, nil
}

// parseKey accepts the standard and the URL alphabet, with or without padding.
func parseKey(text string) (Key, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	if text == "" {
		return Key{}, errors.New("is empty")
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return Key{}, errors.New("is not base64; create one with `openssl rand -base64 32`")
	}
	if len(raw) != KeySize {
		return Key{}, fmt.Errorf("has %d bytes, want %d; create one with `openssl rand -base64 32`", len(raw), KeySize)
	}
	return Key{material: New(string(raw))}, nil
}
