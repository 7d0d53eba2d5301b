package tracking

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/secret"
)

func newTestMinter(t testing.TB, of tokens) *minter {
	t.Helper()
	m, err := of.newMinter(testAccount, testEmail, ownHost)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTokenRoundTrip(t *testing.T) {
	t.Parallel()
	of := tokens{pinnedKey(t).DeriveEach(tokenPurpose)}
	m := newTestMinter(t, of)
	want := LinkToken{Kind: Open, AccountID: testAccount, EmailID: testEmail}
	if got, err := of.parse(m.mintOpen(), ownHost); err != nil || got != want {
		t.Errorf("pixel token contains %+v, %v; want %+v", got, err, want)
	}
	want.Kind = Click
	for _, target := range []string{"https://example.com", "http://example.com/?a=b#c", "https://" +
		strings.Repeat("a", weburl.Longest-8)} {
		want.Target = target
		if got, err := of.parse(m.mintClick(target), ownHost); err != nil || got != want {
			t.Errorf("click token for %s contains %+v, %v; want %+v", target, got, err, want)
		}
	}
}

// Any change to a token, however small, makes it forged.
func TestRejectsChangedTokens(t *testing.T) {
	t.Parallel()
	of := tokens{pinnedKey(t).DeriveEach(tokenPurpose)}
	m := newTestMinter(t, of)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ \n"
	for _, token := range []string{m.mintOpen(), m.mintClick("https://example.com/a"), m.mintClick("http://example.com/ab")} {
		for i := range token {
			for _, c := range alphabet {
				if changed := token[:i] + string(c) + token[i+1:]; changed != token {
					if got, err := of.parse(changed, ownHost); err == nil {
						t.Fatalf("changed token %s was accepted as %+v", changed, got)
					}
				}
			}
			for _, other := range []string{token[:i], token[i:][1:], token[:i] + "\n" + token[i:], token[:i] + "=" +
				token[i:]} {
				if got, err := of.parse(other, ownHost); err == nil {
					t.Fatalf("changed token %q was accepted as %+v", other, got)
				}
			}
		}
	}
	other := tokens{[][]byte{secretOf(t).Derive(tokenPurpose)}}
	if _, err := other.parse(m.mintOpen(), ownHost); err == nil {
		t.Error("a token of another key was accepted")
	}
}

func secretOf(t testing.TB, keys ...secret.Key) *secret.Box {
	t.Helper()
	if len(keys) == 0 {
		keys = []secret.Key{secret.NewKey()}
	}
	box, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestTokensSurviveKeyRotation(t *testing.T) {
	t.Parallel()
	older, newer := secret.NewKey(), secret.NewKey()
	before := tokens{secretOf(t, older).DeriveEach(tokenPurpose)}
	during := tokens{secretOf(t, newer, older).DeriveEach(tokenPurpose)}
	after := tokens{secretOf(t, newer).DeriveEach(tokenPurpose)}
	old := newTestMinter(t, before).mintClick("https://example.com/")
	if _, err := during.parse(old, ownHost); err != nil {
		t.Errorf("a link signed with the old key returned %v", err)
	}
	if _, err := after.parse(newTestMinter(t, during).mintClick("https://example.com/"), ownHost); err != nil {
		t.Errorf("a link signed while both keys were configured returned %v", err)
	}
	if _, err := after.parse(old, ownHost); err == nil {
		t.Error("a link of a removed key was accepted")
	}
}

// Even with the key, a token can only redirect to a web address.
func TestRefusesSignedTokenWithInvalidTarget(t *testing.T) {
	t.Parallel()
	of := tokens{pinnedKey(t).DeriveEach(tokenPurpose)}
	m := newTestMinter(t, of)
	for _, token := range []string{m.mintToken(formClick, ""), m.mintToken(formClick, "e.com/\r\nSet-Cookie: a=b"),
		m.mintToken(formClickTLS, "e.com/ü"),
		m.mintToken(formClickTLS, `e.com\@f.com`), m.mintToken(formOpen, "x"), m.mintToken(0x13, "e.com"),
		m.mintToken(formClick, strings.Repeat("a", weburl.Longest))} {
		if got, err := of.parse(token, ownHost); err == nil {
			t.Errorf("a token with an invalid target was accepted as %+v", got)
		}
	}
}

func FuzzToken(f *testing.F) {
	of := tokens{pinnedKey(f).DeriveEach(tokenPurpose)}
	m := newTestMinter(f, of)
	genuine := map[string]bool{m.mintOpen(): true, m.mintClick("https://example.com/a"): true,
		m.mintClick("http://example.com/"): true}
	for token := range genuine {
		f.Add(token)
		f.Add(token[:40])
	}
	f.Add("")
	f.Fuzz(func(t *testing.T, token string) {
		if mark, err := of.parse(token, ownHost); err == nil && !genuine[token] {
			t.Fatalf("%q was accepted as %+v", token, mark)
		}
	})
}
