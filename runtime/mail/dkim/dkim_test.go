package dkim_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	moxdkim "github.com/mjl-/mox/dkim"
	moxdns "github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/runtime/mail/dkim"
)

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := dkim.GenerateKey()
	if err != nil {
		panic(err)
	}
	return key
})

func testSigner() dkim.Signer {
	return dkim.Signer{Domain: "example.com", Selector: "s1", Key: testKey(), Time: time.Unix(1763712000, 0)}
}

// secondSigner is the additional signer of RFC 8463.
func secondSigner() dkim.Signer {
	return dkim.Signer{Domain: "example.com", Selector: "e1", Key: testEdKey, Time: time.Unix(1763712000, 0)}
}

var testEdKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

func lookup(name string) ([]string, error) {
	switch name {
	case "s1._domainkey.example.com":
		return []string{dkim.PublicRecord(testKey())}, nil
	case "e1._domainkey.example.com":
		return []string{dkim.PublicRecord(testEdKey)}, nil
	}
	return nil, fmt.Errorf("no such name: %s", name)
}

// oddMessages are edge cases of the canonicalization. The same set was verified manually with opendkim and
// Mail::DKIM.
func oddMessages() map[string]string {
	head := "From: Ann <ann@example.com>\r\nTo: bob@example.net\r\nSubject: Hi\r\nDate: Fri, 21 Nov 2025 08:00:00 +0000\r\nMessage-ID: <1@example.com>\r\n"
	date := "Date: Fri, 21 Nov 2025 08:00:00 +0000\r\n"
	return map[string]string{
		"plain":                 head + "\r\nHello\r\n",
		"empty body":            head + "\r\n",
		"body of empty lines":   head + "\r\n\r\n\r\n\r\n",
		"body of white space":   head + "\r\n \t \r\n\t\r\n",
		"trailing empty lines":  head + "\r\nHello\r\n\r\n\r\n",
		"empty lines inside":    head + "\r\n\r\nHello\r\n\r\n\r\nagain\r\n",
		"white space runs":      head + "\r\n  two \t\t tabs  \r\n\t lead\r\nmid  dle\r\n",
		"first line is a space": head + "\r\n leading\r\n",
		"long lines":            head + "\r\n" + strings.Repeat("x", 20000) + "\r\n" + strings.Repeat("y z ", 4000) + "\r\n",
		"8-bit":                 head + "\r\nGr\xc3\xbc\xc3\x9fe \xff\xfe\x00\r\n",
		"UTF-8 header":          date + "From: ann@example.com\r\nTo: \xe7\x94\xa8\xe6\x88\xb7@example.net\r\nSubject: Gr\xc3\xbc\xc3\x9fe\r\n\r\nx\r\n",
		"folded fields": date +
			"From: Ann\r\n <ann@example.com>\r\nSubject:\r\n  folded   with\r\n\t tabs  \t\r\n and more \r\nTo:bob@example.net,\r\n\tcarl@example.net\r\n" +
			"List-Unsubscribe: <https://example.com/u>,\r\n <mailto:u@example.com>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nx\r\n",
		"duplicate fields": date +
			"From: a@example.com\r\nSubject: one\r\nTo: x@example.net\r\nSubject: two\r\nTo: y@example.net\r\nsubject : three\r\n\r\nx\r\n",
		"odd case":    date + "FROM: a@example.com\r\nsUbJeCt : Hi\r\nmime-version:1.0\r\nCONTENT-TYPE:text/plain\r\n\r\nx\r\n",
		"empty field": date + "From: a@example.com\r\nSubject:\r\nTo: \t \r\nReferences:\r\n <1@example.com>\r\n\r\nx\r\n",
		"many fields": date + "From: a@example.com\r\n" + strings.Repeat("References: <1@example.com>\r\n", 40) +
			"Feedback-ID: 1:2:3\r\nX-Other: not signed\r\n\r\nx\r\n",
	}
}

func TestOtherVerifiersAcceptSignatures(t *testing.T) {
	t.Parallel()
	resolver := moxdns.MockResolver{TXT: map[string][]string{
		"s1._domainkey.example.com.": {dkim.PublicRecord(testKey())}, "e1._domainkey.example.com.": {dkim.PublicRecord(testEdKey)}}}
	for name, message := range oddMessages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signed, err := dkim.Sign([]byte(message), testSigner(), secondSigner())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasSuffix(signed, []byte(message)) {
				t.Error("signing changed the message")
			}
			results, err := dkim.Verify(signed, lookup)
			if err != nil || len(results) != 2 {
				t.Fatalf("go-msgauth: %+v, %v\n%s", results, err, signed)
			}
			for _, r := range results {
				if r.Err != nil || r.Domain != "example.com" || !r.Time.Equal(time.Unix(1763712000, 0)) {
					t.Errorf("go-msgauth read %+v\n%s", r, signed)
				}
			}
			mox, err := moxdkim.Verify(t.Context(), slog.New(slog.DiscardHandler), resolver, true,
				func(*moxdkim.Sig) error { return nil }, bytes.NewReader(signed), false)
			if err != nil || len(mox) != 2 || mox[0].Status != moxdkim.StatusPass ||
				mox[1].Status != moxdkim.StatusPass {
				t.Errorf("mox: %+v, %v", mox, err)
			} else if mox[0].Sig.Selector.ASCII != "s1" || mox[1].Sig.Algorithm() != dkim.Ed25519SHA256 {
				t.Errorf("mox read %+v, %+v", mox[0].Sig, mox[1].Sig)
			}
		})
	}
}

func TestEachSignatureVerifiesAlone(t *testing.T) {
	t.Parallel()
	message := []byte(oddMessages()["folded fields"])
	both, err := dkim.Fields(message, testSigner(), secondSigner())
	if err != nil {
		t.Fatal(err)
	}
	var apart []byte
	for _, s := range []dkim.Signer{testSigner(), secondSigner()} { // signatures of both algorithms are deterministic
		field, err := dkim.Fields(message, s)
		if err != nil {
			t.Fatal(err)
		}
		apart = append(apart, field...)
		if results, err := dkim.Verify(append(field, message...), lookup); err != nil || len(results) != 1 ||
			results[0].Err != nil {
			t.Errorf("%s alone: %+v, %v", s.Selector, results, err)
		}
	}
	if diff := cmp.Diff(string(apart), string(both)); diff != "" {
		t.Error(diff)
	}
	if _, err := dkim.Sign(message); err == nil {
		t.Error("is not signed")
	}
	if _, err := dkim.Sign(message, testSigner(), dkim.Signer{Domain: "example.com", Key: testEdKey}); err == nil {
		t.Error("one of two signers is not valid, and nothing was said")
	}
}

// TestExampleOfRFC8463 signs nothing: it checks that the key of appendix A.2 is published exactly as in the RFC.
func TestExampleOfRFC8463(t *testing.T) {
	t.Parallel()
	seed, err := base64.StdEncoding.DecodeString("nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=")
	if err != nil {
		t.Fatal(err)
	}
	want := "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
	if got := dkim.PublicRecord(ed25519.NewKeyFromSeed(seed)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSignatureFieldIsFolded(t *testing.T) {
	t.Parallel()
	for name, message := range oddMessages() {
		field, err := dkim.Fields([]byte(message), testSigner())
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(field), "\r\n"), "\r\n")
		for i, line := range lines {
			if len(line) > 78 || strings.ContainsAny(line, "\r\n") || (i > 0) != strings.HasPrefix(line, " ") {
				t.Errorf("%s: line %d of the field: %q", name, i, line)
			}
		}
		if strings.Contains(string(field), "l=") && strings.Contains(string(field), "; l=") {
			t.Errorf("%s: has a length tag", name)
		}
	}
}

func TestAddedOrChangedFieldsBreakTheSignature(t *testing.T) {
	t.Parallel()
	message := "From: a@example.com\r\nTo: b@example.net\r\nSubject: Hi\r\nDate: Fri, 21 Nov 2025 08:00:00 +0000\r\n" +
		"Message-ID: <1@example.com>\r\nList-Unsubscribe: <https://example.com/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" +
		"Feedback-ID: a:b:c\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nHello\r\n"
	signed, err := dkim.Sign([]byte(message), testSigner())
	if err != nil {
		t.Fatal(err)
	}
	holds := func(m string) bool {
		results, err := dkim.Verify([]byte(m), lookup)
		return err == nil && len(results) == 1 && results[0].Err == nil
	}
	if !holds(string(signed)) || !holds("X-Added: is fine\r\nReceived: by relay\r\n"+string(signed)) {
		t.Fatal("the untouched message does not verify")
	}
	for _, add := range []string{"From: evil@example.org", "To: c@example.net", "Cc: c@example.net",
		"Reply-To: evil@example.org", "Sender: evil@example.org",
		"Subject: other", "Date: Sat, 22 Nov 2025 08:00:00 +0000", "Message-ID: <2@example.com>",
		"In-Reply-To: <3@example.com>", "References: <3@example.com>",
		"MIME-Version: 1.0", "Content-Type: text/html", "Content-Transfer-Encoding: base64",
		"List-Unsubscribe: <https://example.org>",
		"List-Unsubscribe-Post: x", "Feedback-ID: x"} {
		if holds(add + "\r\n" + string(signed)) {
			t.Errorf("an added %q does not break the signature", add)
		}
	}
	for _, change := range [][2]string{{"Hi\r\n", "Ho\r\n"}, {"Hello", "Hallo"}, {"/u>", "/v>"},
		{"One-Click", "Two-Click"}, {"a:b:c", "a:b:d"},
		{"text/plain", "text/html"}, {"Hello\r\n", "Hello\r\nmore\r\n"}, {"b@example.net", "c@example.net"}} {
		if holds(strings.Replace(string(signed), change[0], change[1], 1)) {
			t.Errorf("changing %q to %q does not break the signature", change[0], change[1])
		}
	}
}

func TestSignRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"bare LF in header": "From: a@b.co\nTo: x\r\n\r\nx\r\n", "bare CR in header": "From: a@b.co\rTo: x\r\n\r\nx\r\n",
		"bare CR after a fold": "From: a\r\n\r <a@b.co>\r\n\r\nx\r\n",
		"bare LF in body":      "From: a@b.co\r\n\r\nx\ny\r\n", "bare CR in body": "From: a@b.co\r\n\r\nx\ry\r\n",
		"no CRLF at the end": "From: a@b.co\r\n\r\nx", "CR at the end": "From: a@b.co\r\n\r\nx\r",
		"LF before all": "\nFrom: a@b.co\r\n\r\nx\r\n", "no header end": "From: a@b.co\r\n", "nothing": "",
	} {
		if _, err := dkim.Sign([]byte(message), testSigner()); !errors.Is(err, dkim.ErrNotCanonical) {
			t.Errorf("%s: %v, want ErrNotCanonical", name, err)
		}
	}
	for name, message := range map[string]string{
		"no From": "To: a@b.co\r\n\r\nx\r\n", "no colon": "From a@b.co\r\n\r\nx\r\n",
		"only a body": "\r\nFrom: a@b.co\r\n", "leading fold": " From: a@b.co\r\n\r\nx\r\n",
	} {
		if _, err := dkim.Sign([]byte(message), testSigner()); err == nil {
			t.Errorf("%s: was signed", name)
		}
	}
	good := []byte("From: a@example.com\r\n\r\nx\r\n")
	curveKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]dkim.Signer{
		"no domain": {Selector: "s", Key: testKey()}, "no selector": {Domain: "d", Key: testKey()}, "no key": {Domain: "d", Selector: "s"},
		"injected tag": {Domain: "d; x=1", Selector: "s", Key: testKey()}, "injected line": {Domain: "d", Selector: "s\r\nBcc: x", Key: testKey()},
		"neither RSA nor Ed25519": {Domain: "d", Selector: "s", Key: curveKey},
	} {
		if _, err := dkim.Sign(good, s); err == nil {
			t.Errorf("%s: was signed", name)
		}
	}
}

func TestVerifyDistinguishesUnreachableKeysFromBadSignatures(t *testing.T) {
	t.Parallel()
	signed, err := dkim.Sign([]byte("From: a@example.com\r\n\r\nx\r\n"), testSigner())
	if err != nil {
		t.Fatal(err)
	}
	unreachable := func(string) ([]string, error) {
		return nil, fmt.Errorf("look up: %w", &net.DNSError{Err: "server misbehaving", IsTemporary: true})
	}
	results, err := dkim.Verify(signed, unreachable)
	if err != nil || len(results) != 1 || results[0].Err == nil || !results[0].Temporary {
		t.Errorf("unreachable key: %+v, %v", results, err)
	}
	results, err = dkim.Verify(bytes.Replace(signed, []byte("\r\n\r\nx"), []byte("\r\n\r\ny"), 1), lookup)
	if err != nil || len(results) != 1 || results[0].Err == nil || results[0].Temporary {
		t.Errorf("changed body: %+v, %v", results, err)
	}
	results, err = dkim.Verify([]byte("From: a@example.com\r\n\r\nx\r\n"), lookup)
	if err != nil || len(results) != 0 {
		t.Errorf("unsigned: %+v, %v", results, err)
	}
}
