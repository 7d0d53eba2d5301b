package dsn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dsn"
)

// corpus returns testdata: reports in the style of the systems in their names, with invented hosts and
// addresses.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.eml")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d messages, %v", len(paths), err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".eml")] = raw
	}
	return all
}

func parse(t testing.TB, raw string) dsn.Report {
	t.Helper()
	r, err := dsn.Parse(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return r
}

// TestCorpus compares each report with its golden file.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for name, raw := range corpus(t) {
		r := parse(t, string(raw))
		golden, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		expect.Golden(t, name+".json", string(golden)+"\n")
		checkReport(t, name, r)
	}
}

// checkReport checks properties of every message, including hostile ones.
func checkReport(t testing.TB, name string, r dsn.Report) {
	t.Helper()
	switch r.Kind {
	case dsn.Failed, dsn.Delayed, dsn.Delivered, dsn.Receipt:
		if len(r.Recipients) == 0 {
			t.Errorf("%s: %s without a recipient", name, r.Kind)
		}
	case dsn.Complaint:
		if r.Feedback == nil {
			t.Errorf("%s: complaint without feedback", name)
		}
	case dsn.AutoReply, dsn.Challenge, dsn.Ordinary:
		if len(r.Recipients) > 0 || r.Feedback != nil {
			t.Errorf("%s: %s with a report", name, r.Kind)
		}
	default:
		t.Errorf("%s: kind %q", name, r.Kind)
	}
	for _, one := range r.Recipients {
		if r.Kind != dsn.Receipt && one.Action == "" {
			t.Errorf("%s: no action for %q", name, one.Address)
		}
		if one.Code != 0 && (one.Code < 200 || one.Code > 599) {
			t.Errorf("%s: code %d", name, one.Code)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 4<<20 || len(r.Recipients) > 1000 {
		t.Errorf("%s: report of %d bytes, %d recipients", name, len(text), len(r.Recipients))
	}
	for _, s := range append([]string{r.ReportingMTA, r.EnvelopeID, r.Original.MessageID, r.Original.From,
		r.Original.Subject}, stringsOf(r)...) {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\r\n") || len(s) > 1000 {
			t.Errorf("%s: string %.100q", name, s)
		}
	}
}

func stringsOf(r dsn.Report) []string {
	var all []string
	for _, one := range r.Recipients {
		all = append(all, one.Address, one.OriginalAddress, one.Status, one.Diagnostic, one.RemoteMTA)
	}
	all = append(all, r.Original.To...)
	if f := r.Feedback; f != nil {
		all = append(append(append(all, f.Type, f.UserAgent, f.OriginalMailFrom, f.EnvelopeID), f.OriginalRcptTo...),
			append(f.ReportedDomains, f.ReportedURIs...)...)
	}
	return all
}

// TestParseReadsInAnyPieces: a stream may arrive in pieces of any size.
func TestParseReadsInAnyPieces(t *testing.T) {
	t.Parallel()
	for name, raw := range corpus(t) {
		whole, _ := json.Marshal(parse(t, string(raw)))
		r, err := dsn.Parse(iotest.OneByteReader(strings.NewReader(string(raw))))
		if err != nil {
			t.Fatal(err)
		}
		if pieces, _ := json.Marshal(r); string(pieces) != string(whole) {
			t.Errorf("%s: %s\nin pieces: %s", name, whole, pieces)
		}
	}
}

// TestParseReadsEitherLineEnd: CRLF as on the wire, LF as from a file.
func TestParseReadsEitherLineEnd(t *testing.T) {
	t.Parallel()
	for name, raw := range corpus(t) {
		lf := strings.ReplaceAll(string(raw), "\r\n", "\n")
		one, _ := json.Marshal(parse(t, lf))
		other, _ := json.Marshal(parse(t, strings.ReplaceAll(lf, "\n", "\r\n")))
		if string(one) != string(other) {
			t.Errorf("%s: LF   %s\nCRLF %s", name, one, other)
		}
	}
}

func TestParseReportsTheReadersError(t *testing.T) {
	t.Parallel()
	gone := errors.New("connection gone")
	raw := corpus(t)["postfix_user_unknown"]
	r, err := dsn.Parse(io.MultiReader(strings.NewReader(string(raw)), iotest.ErrReader(gone)))
	if !errors.Is(err, gone) || r.Kind != dsn.Failed {
		t.Errorf("Parse with a broken reader returned %s, %v, want a failure and the reader's error", r.Kind, err)
	}
}

func TestEmptyMessagesAreNotReports(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "\r\n", "x", "\x00", "Subject: Undelivered Mail Returned to Sender"} {
		if r := parse(t, raw); r.Kind != dsn.Ordinary && r.Kind != dsn.Failed {
			t.Errorf("Parse of %q returned %+v, want ordinary mail or a failure", raw, r)
		}
	}
}

// TestTextRepeatsAddresses: lists first, transcripts later, with many addresses.
func TestTextRepeatsAddresses(t *testing.T) {
	t.Parallel()
	var list, transcript strings.Builder
	for i := range 20 {
		fmt.Fprintf(&list, "<u%d@example.net>: see below\n", i)
		fmt.Fprintf(&transcript, "550 5.1.%d <u%d@example.net>... No\n", i, i)
	}
	r := parse(t, "From: MAILER-DAEMON@mx.example.net\nSubject: Returned mail\n\n"+list.String()+"\n"+
		transcript.String())
	if r.Kind != dsn.Failed || len(r.Recipients) != 20 {
		t.Fatalf("a report that names 20 addresses twice parses as %+v, want a failure of 20 recipients", r)
	}
	for i, one := range r.Recipients {
		if one.Code != 550 || one.Status != fmt.Sprintf("5.1.%d", i) {
			t.Errorf("recipient %d is %+v, want code 550 and status 5.1.%[1]d", i, one)
		}
	}
}
