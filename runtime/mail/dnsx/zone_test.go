package dnsx_test

import (
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

func TestLookupZone(t *testing.T) {
	t.Parallel()
	server := dnsxtest.New(t, "example.com. 60 IN SOA a. b. 1 2 3 4 5", "sub.example.com. 60 IN SOA a. b. 1 2 3 4 5",
		"alias.example.com. 60 IN CNAME other.example.net.", "other.example.net. 60 IN SOA a. b. 1 2 3 4 5")
	server.Fault("broken.example.org", dnsxtest.ServFail)
	r, err := dnsx.New(dnsx.Config{Server: server.Addr(), Timeout: 20 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"example.com": "example.com", "A.B.Example.Com.": "example.com",
		"x.sub.example.com": "sub.example.com",
		"alias.example.com": "example.com"} {
		if got, err := r.LookupZone(t.Context(), name); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]error{"nobody.example.edu": dnsx.ErrNotFound, "co.uk": dnsx.ErrNotFound,
		"": dnsx.ErrNotFound, "a.broken.example.org": dnsx.ErrTemporary} {
		if got, err := r.LookupZone(t.Context(), name); got != "" || !errors.Is(err, want) {
			t.Errorf("%s: %q %v, want %v", name, got, err, want)
		}
	}
}
