package dkim_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/mail/dkim"
)

// FuzzSign checks that another verifier accepts every signature.
func FuzzSign(f *testing.F) {
	for _, message := range oddMessages() {
		f.Add([]byte(message))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		signed, err := dkim.Sign(message, testSigner(), secondSigner())
		if err != nil {
			return
		}
		results, err := dkim.Verify(signed, lookup)
		if err != nil || len(results) < 2 || results[0].Err != nil || results[1].Err != nil {
			t.Errorf("signed %q, verified %+v, %v", message, results, err)
		}
	})
}
