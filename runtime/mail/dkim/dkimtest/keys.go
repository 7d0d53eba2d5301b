// Package dkimtest provides RSA keys for tests: generating one takes a tenth of a second of CPU, and tests
// start the whole program a hundred times.
package dkimtest

import (
	"crypto/rsa"
	"sync"

	"github.com/postrider/postrider/runtime/mail/dkim"
)

// most is how many different keys a process generates.
const most = 8

// pool is the set of generated keys, which are reused in turn.
type pool struct {
	mu   sync.Mutex
	made []*rsa.PrivateKey
	next int
}

var shared pool

// Key returns a key like dkim.GenerateKey; after eight calls the keys repeat.
func Key() (*rsa.PrivateKey, error) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if len(shared.made) < most {
		key, err := dkim.GenerateKey()
		if err != nil {
			return nil, err
		}
		shared.made = append(shared.made, key)
		return key, nil
	}
	key := shared.made[shared.next%most]
	shared.next++
	return key, nil
}
