//go:build !linux || !(amd64 || arm64) || nolibcrypto

package signer

import "errors"

// openLibcrypto returns an error: this program was built without libcrypto.
func openLibcrypto() (*native, error) {
	return nil, errors.New("this program is built without libcrypto")
}
