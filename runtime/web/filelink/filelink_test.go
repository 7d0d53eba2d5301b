package filelink_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/filelink"
)

const base, prefix = "https://mail.example.com", "/files/sent/"

var ref = filelink.Ref{AccountID: "acc_01kf0m4w7he6x8q2v5b3n9c1ta", EmailID: "msg_01kf0m4w7he6x8q2v5b3n9c1ta", Index: 3}

func newLinks(t *testing.T, keys ...secret.Key) *filelink.Links {
	t.Helper()
	box, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return filelink.New(box, base+"/")
}

func newToken(t *testing.T, l *filelink.Links, now time.Time) string {
	t.Helper()
	link, expires := l.URL(prefix, ref, now)
	token, found := strings.CutPrefix(link, base+prefix)
	if !found || expires.After(now.Add(time.Hour)) || expires.Before(now.Add(time.Hour-time.Second)) {
		t.Fatalf("the link is %s until %s, want one below %s for an hour from %s", link, expires, base+prefix, now)
	}
	return token
}

func TestLinksExpire(t *testing.T) {
	t.Parallel()
	l := newLinks(t, secret.NewKey())
	now := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	token := newToken(t, l, now)
	for after, want := range map[time.Duration]error{0: nil, time.Hour - time.Second: nil,
		time.Hour:      filelink.ErrExpired,
		24 * time.Hour: filelink.ErrExpired} {
		got, err := l.Parse(prefix, token, now.Add(after))
		if !errors.Is(err, want) || err == nil && got != ref {
			t.Errorf("after %s, Parse returned %+v, %v, want %+v, %v", after, got, err, ref, want)
		}
	}
}

func TestForgedLinksAreRejected(t *testing.T) {
	t.Parallel()
	old, key := secret.NewKey(), secret.NewKey()
	l := newLinks(t, key, old)
	now := time.Now()
	token := newToken(t, l, now)
	if _, err := l.Parse(prefix, newToken(t, newLinks(t, old), now), now); err != nil {
		t.Errorf("a link signed with an older key returned %v, want no error", err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	forged := map[string]string{"nothing": "", "an extra letter": "A", "padding": token + "=",
		"an extra segment": token + "A",
		"truncation":       token[:len(token)-2], "another key": newToken(t, newLinks(t, secret.NewKey()), now)}
	for i := range raw {
		changed := append([]byte(nil), raw...)
		changed[i] ^= 1
		forged["a changed byte "+string(rune('0'+i))] = base64.RawURLEncoding.EncodeToString(changed)
	}
	for name, token := range forged {
		if got, err := l.Parse(prefix, token, now); !errors.Is(err, filelink.ErrForged) {
			t.Errorf("a link with %s returned %+v, %v, want %v", name, got, err, filelink.ErrForged)
		}
	}
	if got, err := l.Parse("/files/received/", token, now); !errors.Is(err, filelink.ErrForged) {
		t.Errorf("a link below another prefix returned %+v, %v, want %v", got, err, filelink.ErrForged)
	}
}
