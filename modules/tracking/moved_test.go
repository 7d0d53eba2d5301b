package tracking

import (
	"errors"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/secret"
)

func newBox(t *testing.T) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// twoWorlds returns two installations with different master keys, and moves the account ada of the first to the second.
func twoWorlds(t *testing.T) (source, target *world) {
	t.Helper()
	source, target = newWorldWith(t, newBox(t)), newWorldWith(t, newBox(t))
	source.addCustomer(t, source.ada, "ada.example")
	target.addCustomer(t, source.ada, "ada.example")
	source.move(t, target)
	return source, target
}

// move moves the account ada of the first installation.
func (w *world) move(t *testing.T, to *world) {
	t.Helper()
	w.home.Move(t, w.ada, to.home)
	for _, side := range []*world{w, to} {
		if err := side.rules.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	to.ada = w.ada
}

// movedToken returns the token of the link to which a link is redirected.
func (w *world) movedToken(t *testing.T, kind TokenKind, token, host string, to *world) string {
	t.Helper()
	mark, err := w.Read(t.Context(), kind, token, host)
	if err != nil {
		t.Fatal(err)
	}
	link, moving := w.Move(t.Context(), mark)
	path := map[TokenKind]string{Click: ClickPath, Open: OpenPath}[kind]
	moved, found := strings.CutPrefix(link, to.home.BaseURL+path)
	if !found || !moving {
		t.Fatalf("the link leads to %q (moving: %t), want %s%s…", link, moving, to.home.BaseURL, path)
	}
	return strings.TrimSuffix(moved, PixelSuffix)
}

// The source passes links on with a token that the target accepts, and no other.
func TestSourcePassesLinksOn(t *testing.T) {
	t.Parallel()
	source, target := twoWorlds(t)
	for _, host := range []string{ownHost, "links.ada.example"} {
		on := host
		if host == ownHost {
			on = "mail.example.org"
		}
		token := source.movedToken(t, Click, source.clickToken(t, source.ada, host), on, target)
		target.wantRead(t, "a link that was passed on", token, "mail.example.org", nil)
		target.wantRead(t, "a link that was passed on", token, "links.ada.example", ErrForged)
		target.wantRead(t, "a changed link", token[:len(token)-4]+"AAAA", "mail.example.org", ErrForged)
	}
	m, err := source.tokens.newMinter(source.ada, testEmail, ownHost)
	if err != nil {
		t.Fatal(err)
	}
	token := source.movedToken(t, Open, m.mintOpen(), "mail.example.org", target)
	if mark, err := target.Read(t.Context(), Open, token, "mail.example.org"); err != nil ||
		mark != (LinkToken{Kind: Open, AccountID: source.ada, EmailID: testEmail}) {
		t.Errorf("an open that was passed on returned %+v, %v", mark, err)
	}
	if _, moving := target.Move(t.Context(), LinkToken{AccountID: source.ada}); moving {
		t.Error("the target passes links on")
	}
	// Of another account, for which the key of this move is invalid.
	forged := tokens{[][]byte{source.keyOf(t, source.ada)}}
	m, err = forged.newMinter(source.eve, testEmail, ownHost)
	if err != nil {
		t.Fatal(err)
	}
	target.wantRead(t, "a link of another account", m.mintClick("https://shop.example/"), "mail.example.org", ErrForged)
}

func (w *world) keyOf(t *testing.T, accountID string) []byte {
	t.Helper()
	key, err := w.origins.DeriveLatest(t.Context(), accountID, tokenPurpose)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Once DNS names the target, it asks the source about links that it cannot verify, with one request each.
func TestTargetAsksSourceAboutLinks(t *testing.T) {
	t.Parallel()
	source, target := twoWorlds(t)
	token := source.clickToken(t, source.ada, "links.ada.example")
	target.wantRead(t, "a link of the source", token, "links.ada.example", nil)
	target.wantRead(t, "a link of the source", token, "mail.example.org", ErrForged)
	target.wantRead(t, "a changed link", token[:len(token)-4]+"AAAA", "links.ada.example", ErrForged)
	target.wantRead(t, "a link of another account", source.clickToken(t, source.eve, ownHost), "mail.example.org", ErrForged)
	if n := source.home.Asked.Load(); n != 3 {
		t.Errorf("the source received %d questions, want 3", n)
	}
	target.wantRead(t, "a link of the target", target.clickToken(t, source.ada, ownHost), "mail.example.org", nil)
	if n := source.home.Asked.Load(); n != 3 {
		t.Error("the target asked about its own link")
	}
}

// Links work after the account has moved on, and after it has returned.
func TestLinksFollowSeveralMoves(t *testing.T) {
	t.Parallel()
	first, second := twoWorlds(t)
	third := newWorldWith(t, newBox(t))
	third.addCustomer(t, first.ada, "ada.example")
	second.move(t, third)
	token := first.clickToken(t, first.ada, ownHost)
	token = first.movedToken(t, Click, token, "mail.example.org", second)
	token = second.movedToken(t, Click, token, "mail.example.org", third)
	third.wantRead(t, "a link of the first installation", token, "mail.example.org", nil)

	third.move(t, first)
	first.wantRead(t, "its own link", first.clickToken(t, first.ada, ownHost), "mail.example.org", nil)
	for _, other := range []*world{second, third} {
		token := other.clickToken(t, first.ada, "links.ada.example")
		first.wantRead(t, "a link of another installation", token, "links.ada.example", nil)
	}
	if to, moving := first.Move(t.Context(), LinkToken{Kind: Click, AccountID: first.ada, EmailID: testEmail}); moving {
		t.Errorf("a link of an account that has returned leads to %s", to)
	}
}

// If the source does not respond, the client can retry.
func TestSilentSourceIsTemporaryError(t *testing.T) {
	t.Parallel()
	source, target := twoWorlds(t)
	token := source.clickToken(t, source.ada, "links.ada.example")
	source.home.Close()
	if _, err := target.Read(t.Context(), Click, token, "links.ada.example"); err == nil || errors.Is(err, ErrForged) {
		t.Errorf("reading a link of a source that does not respond returned %v, want a temporary error", err)
	}
}
