// Package dkimtest has RSA keys for tests at hand: to make one takes a tenth of a second of CPU, and tests
// start the whole program a hundred times.
package dkimtest

import (
	"crypto/rsa"
	"sync"

	"github.com/postrider/postrider/runtime/mail/dkim"
)

// most is how many different keys a process makes.
const most = 8

// pool are the keys that were made so far, which are given by turns.
type pool struct {
	mu   sync.Mutex
	made []*rsa.PrivateKey
	next int
}

var shared pool

// Key is dkim.GenerateKey, of which the ninth call gives the key of the first one.
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
