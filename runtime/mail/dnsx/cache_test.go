package dnsx_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

func TestAnswersAreCachedForTheirTTL(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "kept.test. 300 IN MX 10 mx.test.", "once.test. 0 IN MX 10 mx.test.")
	s.Fault("broken.test", dnsxtest.ServFail)
	r := resolver(t, s)
	for range 3 {
		for _, name := range []string{"kept.test", "KEPT.test.", "once.test", "missing.test", "broken.test"} {
			if _, err := r.LookupMX(t.Context(), name); err != nil && name[0] != 'm' && name[0] != 'b' {
				t.Fatal(err)
			}
		}
	}
	for name, want := range map[string]int{"kept.test": 1, "once.test": 3, "missing.test": 1, "broken.test": 3} {
		if got := s.Count(name, "MX"); got != want {
			t.Errorf("%s was queried %d times, want %d", name, got, want)
		}
	}
}

func TestUncachedSeesAnEditImmediately(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t)
	r := resolver(t, s)
	if _, err := r.LookupTXT(t.Context(), "_service.example.test"); !errors.Is(err, dnsx.ErrNotFound) {
		t.Fatal(err)
	}
	s.Set(t, "_service.example.test", `_service.example.test. 300 IN TXT "postrider=1"`)
	if _, err := r.LookupTXT(t.Context(), "_service.example.test"); !errors.Is(err, dnsx.ErrNotFound) {
		t.Errorf("the negative answer was not kept: %v", err)
	}
	if got, err := r.WithoutCache().LookupTXT(t.Context(), "_service.example.test"); err != nil || len(got) != 1 {
		t.Errorf("uncached: %q, %v", got, err)
	}
}

func TestLongTTLsAreCutDown(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "long.test. 604800 IN MX 10 mx.test.")
	r := resolver(t, s, func(c *dnsx.Config) { c.MaxTTL = time.Nanosecond; c.MaxNegative = time.Nanosecond })
	for range 2 {
		if _, err := r.LookupMX(t.Context(), "long.test"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.LookupMX(t.Context(), "none.test"); !errors.Is(err, dnsx.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if n := s.Count("long.test", "MX"); n != 2 {
		t.Errorf("queried %d times, want 2", n)
	}
	if n := s.Count("none.test", "MX"); n != 2 {
		t.Errorf("a negative answer was queried %d times, want 2", n)
	}
}

// The bound holds at every moment: if more names are looked up than fit, evicted ones are queried again.
func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	const kept, names = 10, 200
	s := dnsxtest.New(t)
	r := resolver(t, s, func(c *dnsx.Config) { c.CacheSize = kept })
	look := func(i int) {
		if _, err := r.LookupMX(t.Context(), fmt.Sprintf("%d.test", i)); !errors.Is(err, dnsx.ErrNotFound) {
			t.Fatal(err)
		}
	}
	for range 2 {
		for i := range names {
			look(i)
		}
	}
	if n := len(s.Queries()); n != 2*names {
		t.Errorf("%d queries for %d names in turn, twice; want %d: more than %d answers were cached", n, names,
			2*names, kept)
	}
	for i := names - kept; i < names; i++ {
		look(i)
	}
	if n := len(s.Queries()); n != 2*names {
		t.Errorf("%d queries after the last %d names were looked up once more, want %d: they were not cached", n,
			kept, 2*names)
	}
}

func TestAnswerIsRemovedAfterItsTTL(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "short.test. 1 IN MX 10 mx.test.")
	r := resolver(t, s)
	expect.EventuallyWithin(t, 10*time.Second, "a second query", func() bool {
		if _, err := r.LookupMX(t.Context(), "short.test"); err != nil {
			t.Fatal(err)
		}
		return s.Count("short.test", "MX") == 2
	})
}
