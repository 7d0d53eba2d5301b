package devices_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/signin/devices"
)

const ada, bob = "ada@example.com", "bob@example.com"

var keys = devices.Keys{bytes.Repeat([]byte{1}, 32)}

// A browser is recognized for 180 days, for each user who has signed in with it.
func TestRecognizesBrowserPerUser(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cookie := keys.Remember("", ada, now)
	first, known := keys.Find(cookie, ada, now)
	if !known || first.ID == "" || first.At.Unix() != now.Unix() {
		t.Fatalf("Find after a sign-in returned %+v, %t; want a device from now", first, known)
	}
	if _, known := keys.Find(cookie, bob, now); known {
		t.Error("the browser is known for a user who has not signed in with it")
	}
	if _, known := keys.Find(cookie, ada, now.Add(devices.Lifetime)); known {
		t.Error("the browser is known after 180 days")
	}
	cookie = keys.Remember(cookie, bob, now)
	if again, known := keys.Find(cookie, ada, now); !known || again.ID != first.ID {
		t.Errorf("after another user's sign-in, Find for the first returned %+v, %t; want %+v", again, known, first)
	}
	cookie = keys.Remember(cookie, ada, now.Add(time.Hour))
	if again, known := keys.Find(cookie, ada, now); !known || again.ID != first.ID || !again.At.After(first.At) {
		t.Errorf("after the next sign-in, Find returned %+v, %t; want the same device with a later time", again, known)
	}
	for _, email := range []string{"a@x", "b@x", "c@x", "d@x", "e@x"} {
		cookie = keys.Remember(cookie, email, now)
	}
	if _, known := keys.Find(cookie, "e@x", now); !known || strings.Count(cookie, ".") != 3 {
		t.Errorf("the cookie of many users is %q, want the last four", cookie)
	}
}

// A cookie is valid only with this installation's key.
func TestRejectsForgedCookies(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cookie := keys.Remember("", ada, now)
	for what, wrong := range map[string]string{"nothing": "", "a part": cookie[:len(cookie)-1], "more": cookie + "A",
		"no base 64": strings.Repeat("!", 48), "long": strings.Repeat("A", 5000),
		"another key's": devices.Keys{bytes.Repeat([]byte{2}, 32)}.Remember("", ada, now), "many": strings.Repeat("AAAA.", 10) + cookie} {
		if _, known := keys.Find(wrong, ada, now); known {
			t.Errorf("%s: the cookie is accepted", what)
		}
	}
	for i := range len(cookie) {
		changed := []byte(cookie)
		if changed[i] ^= 1; changed[i] == '.' {
			continue
		}
		if _, known := keys.Find(string(changed), ada, now); known {
			t.Errorf("a cookie modified at byte %d is accepted", i)
		}
	}
	rotated := devices.Keys{bytes.Repeat([]byte{3}, 32), keys[0]}
	if _, known := rotated.Find(cookie, ada, now); !known {
		t.Error("a cookie of the previous key is rejected during key rotation")
	}
}

func FuzzFind(f *testing.F) {
	f.Add(keys.Remember("", ada, time.Unix(1, 0)))
	f.Add("....")
	f.Fuzz(func(t *testing.T, cookie string) {
		next := keys.Remember(cookie, ada, time.Unix(1, 0))
		if _, known := keys.Find(next, ada, time.Unix(1, 0)); !known || len(next) > 1024 {
			t.Errorf("Remember(%q) returned %q, which is not accepted or too long", cookie, next)
		}
	})
}
