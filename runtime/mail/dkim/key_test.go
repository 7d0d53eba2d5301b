package dkim_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"strings"
	"testing"

	moxdkim "github.com/mjl-/mox/dkim"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/dkim"
)

func TestKeysSurviveStorage(t *testing.T) {
	t.Parallel()
	if bits := testKey().N.BitLen(); bits != 2048 {
		t.Errorf("key has %d bits", bits)
	}
	made, err := dkim.GenerateEd25519()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []crypto.Signer{testKey(), made} {
		der, err := dkim.MarshalPrivate(key)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := dkim.ParsePrivate(der)
		if err != nil || !key.(interface{ Equal(crypto.PrivateKey) bool }).Equal(parsed) {
			t.Errorf("parsed %T differs: %v", key, err)
		}
		for _, bad := range [][]byte{nil, []byte("x"), der[:len(der)-1]} {
			if _, err := dkim.ParsePrivate(bad); err == nil {
				t.Errorf("ParsePrivate of %d bytes was accepted", len(bad))
			}
		}
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := dkim.MarshalPrivate(other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dkim.ParsePrivate(der); err == nil {
		t.Error("a key that cannot sign mail was accepted")
	}
}

func TestPublicRecordContainsTheKey(t *testing.T) {
	t.Parallel()
	for _, key := range []crypto.Signer{testKey(), testEdKey} {
		record, isDKIM, err := moxdkim.ParseRecord(dkim.PublicRecord(key))
		if err != nil || !isDKIM || !key.Public().(interface{ Equal(crypto.PublicKey) bool }).Equal(record.PublicKey) {
			t.Errorf("ParseRecord: %v %v %+v", err, isDKIM, record)
		}
	}
	if got := dkim.RecordName("s1", "example.com"); got != "s1._domainkey.example.com" {
		t.Errorf("RecordName = %q", got)
	}
}

func TestTXTStrings(t *testing.T) {
	t.Parallel()
	long := dkim.PublicRecord(testKey())
	parts := dkim.TXTStrings(long)
	if strings.Join(parts, "") != long || len(parts) != 2 || len(parts[0]) != 255 {
		t.Errorf("parts: %q", parts)
	}
	if diff := cmp.Diff([]string{""}, dkim.TXTStrings("")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{strings.Repeat("x", 255)}, dkim.TXTStrings(strings.Repeat("x", 255))); diff != "" {
		t.Error(diff)
	}
	if got, want := dkim.ZoneText(strings.Repeat("x", 256)), `"`+strings.Repeat("x", 255)+`" "x"`; got != want {
		t.Errorf("ZoneText = %s", got)
	}
	if got := dkim.ZoneText(`a"b\c`); got != `"a\"b\\c"` {
		t.Errorf("ZoneText = %s", got)
	}
}
