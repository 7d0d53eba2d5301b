package compose

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/mail/dkim"
)

func TestSignsWithKeysOfIdentity(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second, err := dkim.GenerateEd25519()
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]crypto.Signer{"pr1._domainkey.example.com": sendingtest.Key(),
		"pe1._domainkey.example.com": second}
	lookup := func(name string) ([]string, error) {
		if key, there := keys[name]; there {
			return []string{dkim.PublicRecord(key)}, nil
		}
		return nil, fmt.Errorf("no such name: %s", name)
	}
	message := func() *StoredEmail {
		return &StoredEmail{id: "msg_1", accountID: sendingtest.Account, from: "Ada <ada@example.com>",
			to: []string{"bob@example.net"}, subject: "Hello",
			text: "Hello", messageID: "msg_1@example.com", date: time.Now(), loaded: true}
	}
	for want, key := range map[int]*domains.SecondKey{1: nil, 2: {Selector: "pe1", Key: second}} {
		f.Near.Sender.Second = key
		signed, _, err := f.Sign(t.Context(), message())
		if err != nil {
			t.Fatal(err)
		}
		results, err := dkim.Verify(signed.Raw, lookup)
		if err != nil || len(results) != want {
			t.Fatalf("got %+v, %v; want %d signatures", results, err, want)
		}
		for _, r := range results {
			if r.Err != nil || r.Domain != "example.com" {
				t.Errorf("the signature is %+v, want a valid one of example.com", r)
			}
		}
		if first, _, _ := bytes.Cut(signed.Raw, []byte("\r\n")); !strings.Contains(string(first), "a=rsa-sha256") {
			t.Errorf("the first signature is %s", first)
		}
	}

	// Without an identity there is no message: no other key is used instead.
	f.Near.SenderErr = errors.New("no key that signs")
	if signed, _, err := f.Sign(t.Context(), message()); !errors.Is(err, f.Near.SenderErr) || signed.Raw != nil {
		t.Errorf("signing without an identity returned %q, %v; want no message and that error", signed.Raw, err)
	}
}
