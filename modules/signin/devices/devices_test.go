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

// A browser is recognized for whom it has signed in, for 180 days, also when several people share it.
func TestRecognizesBrowserPerUser(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cookie := keys.Remember("", ada, now)
	first, known := keys.Find(cookie, ada, now)
	if !known || first.ID == "" || first.At.Unix() != now.Unix() {
		t.Fatalf("after a sign-in the browser is %+v, %t, want it known since now", first, known)
	}
	if _, known := keys.Find(cookie, bob, now); known {
		t.Error("a browser is known for somebody who has not signed in there")
	}
	if _, known := keys.Find(cookie, ada, now.Add(devices.Life)); known {
		t.Error("a browser is known after 180 days")
	}
	cookie = keys.Remember(cookie, bob, now)
	if again, known := keys.Find(cookie, ada, now); !known || again.ID != first.ID {
		t.Errorf("once another person has signed in, the browser is %+v, %t to the first, want %+v", again, known, first)
	}
	cookie = keys.Remember(cookie, ada, now.Add(time.Hour))
	if again, known := keys.Find(cookie, ada, now); !known || again.ID != first.ID || !again.At.After(first.At) {
		t.Errorf("after the next sign-in the browser is %+v, %t, want the same one from later", again, known)
	}
	for _, email := range []string{"a@x", "b@x", "c@x", "d@x", "e@x"} {
		cookie = keys.Remember(cookie, email, now)
	}
	if _, known := keys.Find(cookie, "e@x", now); !known || strings.Count(cookie, ".") != 3 {
		t.Errorf("the cookie of many people is %q, want the last four of them", cookie)
	}
}

// Whoever does not have the key makes no cookie.
func TestRejectsForgedCookies(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cookie := keys.Remember("", ada, now)
	for what, wrong := range map[string]string{"nothing": "", "a part": cookie[:len(cookie)-1], "more": cookie + "A", "no base 64": strings.Repeat("!", 48), "long": strings.Repeat("A", 5000),
		"another key's": devices.Keys{bytes.Repeat([]byte{2}, 32)}.Remember("", ada, now), "many": strings.Repeat("AAAA.", 10) + cookie} {
		if _, known := keys.Find(wrong, ada, now); known {
			t.Errorf("%s: the browser is known", what)
		}
	}
	for i := range len(cookie) {
		changed := []byte(cookie)
		if changed[i] ^= 1; changed[i] == '.' {
			continue
		}
		if _, known := keys.Find(string(changed), ada, now); known {
			t.Errorf("a cookie that was changed at %d is believed", i)
		}
	}
	rotated := devices.Keys{bytes.Repeat([]byte{3}, 32), keys[0]}
	if _, known := rotated.Find(cookie, ada, now); !known {
		t.Error("while the key is being replaced, a cookie of the older one is not believed")
	}
}

func FuzzFind(f *testing.F) {
	f.Add(keys.Remember("", ada, time.Unix(1, 0)))
	f.Add("....")
	f.Fuzz(func(t *testing.T, cookie string) {
		next := keys.Remember(cookie, ada, time.Unix(1, 0))
		if _, known := keys.Find(next, ada, time.Unix(1, 0)); !known || len(next) > 1024 {
			t.Errorf("after %q the cookie is %q, want one that is known", cookie, next)
		}
	})
}
