package dsn_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dsn"
)

// hostileInputs returns inputs that take other parsers minutes and gigabytes.
func hostileInputs() map[string]string {
	repeat := strings.Repeat
	var numbered, nested strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&numbered, "; name*%d=x", i)
		if i < 5000 {
			fmt.Fprintf(&nested, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
		}
	}
	const (
		daemon = "From: MAILER-DAEMON@a.example\r\nSubject: Undelivered mail\r\n"
		report = daemon + "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n"
		status = report + "Content-Type: message/delivery-status\r\n\r\n"
	)
	return map[string]string{
		"20,000 continuations": "Content-Type: multipart/report" + numbered.String() + "\r\n\r\nx",
		"50,000 parameters":    "Content-Type: multipart/report" + repeat("; a=b", 50000) + "\r\n\r\nx",
		"50,000 parts": "Content-Type: multipart/report; boundary=b\r\n\r\n" +
			repeat("--b\r\nContent-Type: message/delivery-status\r\n\r\nFinal-Recipient: a@b\r\n", 50000),
		"5,000 levels":        nested.String(),
		"8 MB of base64 junk": report + "Content-Type: message/delivery-status\r\nContent-Transfer-Encoding: base64\r\n\r\n" + repeat("!", 8<<20),
		"24 MB attachment": report +
			"Content-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			repeat(repeat("QUJD", 19)+"\r\n", 24<<20/78),
		"100,000 recipients":     status + repeat("Final-Recipient: rfc822; a@b.example\r\nAction: failed\r\n\r\n", 100000),
		"100,000 fields":         status + "Final-Recipient: a@b.example\r\n" + repeat("Diagnostic-Code: smtp; 550 x\r\n", 100000),
		"endless field":          status + "Final-Recipient: a@b.example\r\nDiagnostic-Code: " + repeat("x", 3<<20),
		"endless folding":        status + "Final-Recipient: a@b.example\r\nDiagnostic-Code:" + repeat(" x\r\n", 500000),
		"empty lines":            status + repeat("\r\n", 1<<20),
		"one line of text":       daemon + "\r\n" + repeat("550 ", 1<<20),
		"100,000 address lines":  daemon + "\r\nMessage could not be delivered\r\n" + repeat("<a@b.example>: 550 no\r\n", 100000),
		"as many addresses":      daemon + "\r\nMessage could not be delivered\r\n" + manyAddresses(20000),
		"at signs":               daemon + "\r\ncould not be delivered to " + repeat("a@", 1<<19),
		"brackets":               daemon + "\r\ncould not be delivered to " + repeat("<", 1<<19) + repeat("(", 1<<19),
		"failed recipients":      daemon + "X-Failed-Recipients: " + manyList(20000) + "\r\n\r\ncould not be delivered",
		"qmail paragraphs":       daemon + "\r\nHi. This is the\n\n" + repeat("<a@b.example>:\nno\n\n", 100000),
		"codes":                  daemon + "\r\ncould not be delivered\r\n" + repeat("5.1.1.", 1<<18),
		"html":                   daemon + "Content-Type: text/html\r\n\r\n" + repeat("<div ", 1<<18) + repeat("<p>could not be delivered", 1<<14),
		"html comment":           daemon + "Content-Type: text/html\r\n\r\n" + repeat("<!--", 1<<19),
		"header of 9 MB":         "Subject: " + repeat("x", 9<<20),
		"header of a part":       report + "X: " + repeat("x", 9<<20),
		"encoded words":          "Subject: " + repeat("=?utf-8?q?a?= ", 20000) + "\r\n\r\n",
		"address list":           "From: " + repeat("a@b.example,", 20000) + "\r\n\r\n",
		"returned header":        report + "Content-Type: message/rfc822\r\n\r\n" + repeat("X: y\r\n", 300000),
		"returned, many To":      report + "Content-Type: text/rfc822-headers\r\n\r\nTo: " + repeat("a@b.example,\r\n ", 10000),
		"quoted fields":          daemon + "\r\nnot delivered\r\n" + repeat("> ", 100000) + "Final-Recipient: a@b.example\r\n" + repeat("> \r\n", 50000),
		"feedback uris":          "Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n--b\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: abuse\r\n" + repeat("Reported-Uri: http://a.example\r\nOriginal-Rcpt-To: a@b.example\r\n", 50000),
		"NUL":                    daemon + "\r\n" + repeat("\x00", 1<<20),
		"broken UTF-8":           daemon + "\r\nnot delivered " + repeat("\xff\xc3", 1<<19),
		"boundaries in the text": report + repeat("--b-\r\n--bb\r\n--", 200000),
	}
}

func manyAddresses(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a%d@b.example>: 550 5.1.1 no\r\n", i)
	}
	return b.String()
}

func manyList(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d@b.example, ", i)
	}
	return b.String()
}

// TestHostileMessagesAreCheap is not parallel: it measures memory.
func TestHostileMessagesAreCheap(t *testing.T) {
	for name, raw := range hostileInputs() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var r dsn.Report
		var err error
		took := expect.MeasureCPU(t, func() { r, err = dsn.Parse(strings.NewReader(raw)) })
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: Parse failed: %v", name, err)
		}
		checkReport(t, name, r)
		// The total of all allocations, not only the peak.
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 300 {
			t.Errorf("%s: allocated %d MB", name, mb)
		} else if testing.Verbose() {
			t.Logf("%-24s %8s %4d MB  %s", name, took.Round(time.Millisecond), mb, r.Kind)
		}
		// The slowest takes 0.2 s on an idle machine and must stay below 2. This limit is far above that,
		// for busy machines and the race detector, and far below quadratic behavior.
		if took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, raw := range corpus(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := parse(t, string(raw))
		checkReport(t, "fuzz", r)
	})
}
