package devinbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

const hello = "From: ada@dev.test\r\nSubject: Your code: 100% (A_B)\r\n\r\nHello\r\n"

func TestLatestReturnsNewestMatch(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	deliver(t, s, []string{"bob@example.net", "Carol+1@Example.net"}, hello)
	deliver(t, s, []string{"bob@example.net"}, hello+"again\r\n")
	deliver(t, s, []string{"notbob@example.net"}, "Subject: Other\r\n\r\nx\r\n")
	for _, c := range []struct {
		wanted LatestQuery
		raw    string // "" for none
	}{
		{LatestQuery{}, "Subject: Other\r\n\r\nx\r\n"},
		{LatestQuery{To: "bob@example.net"}, hello + "again\r\n"},
		{LatestQuery{To: "BOB@EXAMPLE.NET"}, hello + "again\r\n"},
		{LatestQuery{To: "carol+1@example.net"}, hello},
		{LatestQuery{To: "carol@example.net"}, ""},
		{LatestQuery{To: "ob@example.net"}, ""},
		{LatestQuery{Subject: "YOUR CODE"}, hello + "again\r\n"},
		{LatestQuery{Subject: "100%"}, hello + "again\r\n"},
		{LatestQuery{Subject: "A_B"}, hello + "again\r\n"},
		{LatestQuery{Subject: "AxB"}, ""},
		{LatestQuery{Subject: "%"}, hello + "again\r\n"},
		{LatestQuery{Subject: `\`}, ""},
		{LatestQuery{To: "carol+1@example.net", Subject: "code"}, hello},
		{LatestQuery{To: "notbob@example.net", Subject: "code"}, ""},
	} {
		found, err := s.Latest(t.Context(), c.wanted)
		switch {
		case c.raw == "" && fault.KindOf(err) != fault.NotFound:
			t.Errorf("Latest for %+v returned %v and %v, want NotFound", c.wanted, found, err)
		case c.raw != "" && (err != nil || string(found.Raw) != c.raw):
			t.Errorf("Latest for %+v returned %v and %v, want the mail\n%s", c.wanted, found, err, c.raw)
		}
	}
}

func TestLatestWaitsForMail(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	type answer struct {
		raw string
		err error
	}
	got := make(chan answer, 1)
	go func() {
		found, err := s.Latest(t.Context(), LatestQuery{To: "bob@example.net", Wait: MaxWait})
		a := answer{err: err}
		if err == nil {
			a.raw = string(found.Raw)
		}
		got <- a
	}()
	deliver(t, s, []string{"carol@example.net"}, hello)
	deliver(t, s, []string{"bob@example.net"}, hello)
	select {
	case a := <-got:
		if a.err != nil || a.raw != hello {
			t.Errorf("waiting for a mail returned %q and %v, want the mail", a.raw, a.err)
		}
	case <-time.After(MaxWait / 2):
		t.Error("a mail arrived, but the waiting call was not notified")
	}
}

// Another process may have stored the mail, without notifying this one.
func TestLatestSeesMailOfOtherProcesses(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	if err := s.insert(t.Context(), newMail(&session{to: []string{"bob@example.net"}}, []byte(hello)), nil, false,
		nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Latest(t.Context(), LatestQuery{To: "bob@example.net", Wait: MaxWait}); err != nil {
		t.Errorf("an existing mail was not found: %v", err)
	}
}

func TestWaitsEndOnTimeoutAndStop(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	if _, err := s.Latest(t.Context(), LatestQuery{Wait: time.Millisecond}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("after the wait, Latest returned %v, want NotFound", err)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.Latest(left, LatestQuery{Wait: MaxWait}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation, Latest returned %v, want the error of the context", err)
	}
	s.Drain()
	s.Drain()
	if _, err := s.Latest(t.Context(), LatestQuery{Wait: MaxWait}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a wait during a stop returned %v, want Unavailable", err)
	}
}

func TestListHasSnippets(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	deliver(t, s, []string{"bob@example.net"}, hello)
	deliver(t, s, []string{"bob@example.net"}, "Subject: s\r\n\r\nSecond\r\n")
	lines, err := s.List(t.Context(), MailQuery{})
	if err != nil || len(lines) != 2 || lines[0].Snippet != "Second" || lines[1].Snippet != "Hello" ||
		lines[0].Raw != nil {
		t.Errorf("List returned %+v %v, want the snippets Second and Hello and no contents", lines, err)
	}
}
