package openid

import (
	"testing"
	"time"
)

func TestStateIsValidInItsBrowserForFiveMinutes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	ours := keys{[]byte("the key of this installation")}
	p := newPending("/emails", "", now)
	cookie, err := ours.seal(p)
	if err != nil {
		t.Fatal(err)
	}
	got, c, err := ours.open(cookie, p.State, now.Add(stateLife-time.Second))
	if err != nil || got != p || c != deriveCodes(ours[0], p.State) || len(c.verifier) != 43 {
		t.Errorf("open returned %+v, %v; want %+v", got, err, p)
	}
	later := keys{[]byte("a new key"), ours[0]}
	if _, again, err := later.open(cookie, p.State, now); err != nil || again != c {
		t.Errorf("open after a rotation of the master key: error %v, or another verifier", err)
	}
	other := newPending("/", "", now)
	for name, try := range map[string]struct {
		keys          keys
		cookie, state string
		now           time.Time
	}{
		"another state":        {ours, cookie, other.State, now},
		"no state":             {ours, cookie, "", now},
		"no cookie":            {ours, "", p.State, now},
		"another installation": {keys{[]byte("another key")}, cookie, p.State, now},
		"five minutes later":   {ours, cookie, p.State, now.Add(stateLife)},
		"a changed cookie":     {ours, "A" + cookie, p.State, now},
		"a cookie cut short":   {ours, cookie[:len(cookie)-1], p.State, now},
	} {
		if got, _, err := try.keys.open(try.cookie, try.state, try.now); err == nil {
			t.Errorf("%s: open returned %+v, want an error", name, got)
		}
	}
}

func TestParsesIssuerAndJoin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"https://id.example.com": true, "https://id.example.com/realms/staff": true, "https://id.example.com/": true, "https://10.0.0.7:8443/x": true,
		"http://127.0.0.1:8080/x": true, "http://localhost": true, "http://id.example.com": false, "id.example.com": false, "": false, "https://": false,
		"https://u:p@id.example.com": false, "https://id.example.com?x=1": false, "https://id.example.com#x": false, "ftp://id.example.com": false,
		"https://id.example.com/.well-known/openid-configuration": false,
	} {
		if got, err := parseIssuer(text); (err == nil) != want || err == nil && got != text {
			t.Errorf("parseIssuer(%q) = %q, %v; want it accepted: %v", text, got, err, want)
		}
	}
	const account = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	for text, want := range map[string]bool{
		account + ":viewer": true, account + ":admin": true, account + ":owner": false, account + ":boss": false,
		account: false, "acc_1:viewer": false, ":viewer": false,
	} {
		if got, err := parseJoin(text); (err == nil) != want || err == nil && got.String() != text {
			t.Errorf("parseJoin(%q) = %q, %v; want it accepted: %v", text, got, err, want)
		}
	}
}
