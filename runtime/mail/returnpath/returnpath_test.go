package returnpath_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/returnpath"
)

var (
	key   = bytes.Repeat([]byte{1}, 32)
	other = bytes.Repeat([]byte{2}, 32)
	now   = time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)
	today = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	mark  = returnpath.Mark{EmailID: "msg_01kabm5yq3e0tv2w6z9j7r4d5c", RecipientID: 42}
)

const day = 24 * time.Hour

func signer(t testing.TB, keys ...[]byte) *returnpath.Signer {
	t.Helper()
	s, err := returnpath.New(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func address(t testing.TB, s *returnpath.Signer, m returnpath.Mark, domain string, issued time.Time) string {
	t.Helper()
	a, err := s.Address(m, domain, issued)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestParseReturnsTheMarkOfAnAddress(t *testing.T) {
	t.Parallel()
	s := signer(t, key)
	for _, number := range []int64{1, 255, 256, 1 << 31, 1<<40 + 5, 1<<56 - 1} {
		want := returnpath.Mark{EmailID: mark.EmailID, RecipientID: number, Issued: today}
		a := address(t, s, want, "Dev.Test.", now)
		local, host, _ := strings.Cut(a, "@")
		if len(local) > 64 || host != "rp.dev.test" || strings.Trim(local, "abcdefghijklmnopqrstuvwxyz234567+") != "" {
			t.Errorf("address %s: local part of %d bytes", a, len(local))
		}
		for _, seen := range []string{a, strings.ToUpper(a), "Bounce" + a[6:], a + "."} {
			got, err := s.Parse(seen, now)
			if err != nil {
				t.Errorf("Parse of %s failed: %v", seen, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Parse of %s returns a different mark than it was created for: %s", seen, diff)
			}
		}
	}
}

// A different format would make the bounces of all mail in transit unreadable.
func TestAddressFormatIsStable(t *testing.T) {
	t.Parallel()
	const want = "bounce+cfcadguxil5og4bvwfyn6tepqi2kykr3yh5uwsc6d546qqq@rp.dev.test"
	if got := address(t, signer(t, key), mark, "dev.test", now); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAddressIsStableForADay(t *testing.T) {
	t.Parallel()
	s := signer(t, key)
	first := address(t, s, mark, "dev.test", today)
	if again := address(t, s, mark, "dev.test", now); again != first {
		t.Errorf("%s and %s", first, again)
	}
	next := returnpath.Mark{EmailID: mark.EmailID, RecipientID: mark.RecipientID + 1}
	if again := address(t, s, next, "dev.test", now); again == first {
		t.Error("two recipients share an address")
	}
}

func TestModifiedAddressesAreForged(t *testing.T) {
	t.Parallel()
	s := signer(t, key)
	a := address(t, s, mark, "dev.test", now)
	at := strings.Index(a, "@")
	for i := len(returnpath.Prefix); i < at; i++ {
		for _, c := range "a2z7q" {
			if changed := a[:i] + string(c) + a[i+1:]; changed != a {
				if _, err := s.Parse(changed, now); !errors.Is(err, returnpath.ErrForged) {
					t.Errorf("Parse of the changed address %s returned %v, want ErrForged", changed, err)
				}
			}
		}
		if _, err := s.Parse(a[:i]+a[at:], now); !errors.Is(err, returnpath.ErrForged) &&
			!errors.Is(err, returnpath.ErrNotReturnPath) {
			t.Errorf("cut to %s: %v", a[:i], err)
		}
		if _, err := s.Parse(a[:i]+"\n"+a[i:], now); !errors.Is(err, returnpath.ErrForged) {
			t.Errorf("line feed at %d: %v", i, err)
		}
	}
}

func TestATokenOfAnotherDomainOrKeyIsForged(t *testing.T) {
	t.Parallel()
	a := address(t, signer(t, key), mark, "dev.test", now)
	foreign := strings.Replace(a, "dev.test", "other.test", 1)
	if _, err := signer(t, key).Parse(foreign, now); !errors.Is(err, returnpath.ErrForged) {
		t.Errorf("another domain: %v", err)
	}
	if _, err := signer(t, other).Parse(a, now); !errors.Is(err, returnpath.ErrForged) {
		t.Errorf("another key: %v", err)
	}
}

func TestOlderKeyIsAcceptedButNotUsed(t *testing.T) {
	t.Parallel()
	before, during, after := signer(t, key), signer(t, other, key), signer(t, other)
	if _, err := during.Parse(address(t, before, mark, "dev.test", now), now); err != nil {
		t.Errorf("token of the older key: %v", err)
	}
	if _, err := after.Parse(address(t, during, mark, "dev.test", now), now); err != nil {
		t.Errorf("token of the newer key: %v", err)
	}
}

func TestTokensExpire(t *testing.T) {
	t.Parallel()
	s := signer(t, key)
	for age, want := range map[time.Duration]error{
		0: nil, -day: nil, -2 * day: returnpath.ErrExpired, 30 * day: nil, 31 * day: returnpath.ErrExpired,
		4000 * day: returnpath.ErrExpired,
	} {
		issued := now.Add(-age)
		if _, err := s.Parse(address(t, s, mark, "dev.test", issued), now); !errors.Is(err, want) {
			t.Errorf("made %s ago: %v, want %v", age, err, want)
		}
	}
	turned := time.Date(2037, 3, 25, 12, 0, 0, 0, time.UTC) // days after the counter has wrapped around
	got, err := s.Parse(address(t, s, mark, "dev.test", turned.Add(-10*day)), turned)
	if err != nil || !got.Issued.Equal(turned.Add(-10*day).Truncate(day)) {
		t.Errorf("across the wrap-around of the day counter: %v, issued %s", err, got.Issued)
	}
}

func TestOtherAddressesAreNotReturnPaths(t *testing.T) {
	t.Parallel()
	s := signer(t, key)
	for _, a := range []string{"", "@", "bounce+@rp.dev.test", "bounce@rp.dev.test", "ada@dev.test", "bounce+aaaa",
		"bounce+aaaa@dev.test", "postmaster@rp.dev.test"} {
		if _, err := s.Parse(a, now); !errors.Is(err, returnpath.ErrNotReturnPath) {
			t.Errorf("Parse of %q returned %v, want ErrNotReturnPath", a, err)
		}
	}
}

func TestInvalidMarksAreRejected(t *testing.T) {
	t.Parallel()
	s := signer(t, key)
	for _, m := range []returnpath.Mark{
		{}, {EmailID: mark.EmailID}, {EmailID: mark.EmailID, RecipientID: -1}, {EmailID: mark.EmailID, RecipientID: math.MaxInt64},
		{EmailID: "msg_1", RecipientID: 1}, {EmailID: "dom_01kabm5yq3e0tv2w6z9j7r4d5c", RecipientID: 1},
	} {
		if a, err := s.Address(m, "dev.test", now); err == nil {
			t.Errorf("%+v was encoded as %s, want an error", m, a)
		}
	}
	if _, err := returnpath.New(); err == nil {
		t.Error("a signer without a key")
	}
	if _, err := returnpath.New(key, []byte("short")); err == nil {
		t.Error("a signer with a short key")
	}
}

func FuzzParse(f *testing.F) {
	s := signer(f, key)
	genuine := address(f, s, mark, "dev.test", now)
	f.Add(genuine)
	f.Add("bounce+" + strings.Repeat("a", 56) + "@rp.dev.test")
	f.Add("bounce+aa@rp.")
	f.Fuzz(func(t *testing.T, a string) {
		got, err := s.Parse(a, now)
		if err == nil && (got.EmailID != mark.EmailID || got.RecipientID != mark.RecipientID ||
			!strings.EqualFold(strings.TrimSuffix(a, "."), genuine)) {
			t.Errorf("%q was accepted as %+v", a, got)
		}
	})
}
