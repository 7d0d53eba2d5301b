package dnscheck

import (
	"crypto/rsa"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dkim"
)

func TestProbeRequiresPrivateKey(t *testing.T) {
	t.Parallel()
	keys := make([]*rsa.PrivateKey, 2)
	for i := range keys {
		var err error
		if keys[i], err = dkim.GenerateKey(); err != nil {
			t.Fatal(err)
		}
	}
	e := testExpectation()
	if err := probe(e, e.keys[0], keys[0], dkim.PublicRecord(keys[0])); err != nil {
		t.Error(err)
	}
	if err := probe(e, e.keys[0], keys[1], dkim.PublicRecord(keys[0])); err == nil {
		t.Error("a signature of another key is valid")
	}
}
