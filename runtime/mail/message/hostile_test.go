package message_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/message"
)

// The bounds for any message. Memory is the sum of all allocations, an upper bound of its use. Work is the
// processor time of one thread, so other load does not count. The messages here take a tenth of it, so that the
// test fails only if the complexity is wrong.
const (
	mostMemory = 100 << 20
	mostWork   = 2 * time.Second
)

// hostile is a message that tries to use too many resources.
type hostile struct {
	name  string
	make  func() io.Reader
	check func(t *testing.T, m *message.Message)
	once  bool // its structure is covered by another message, so no file is read
}

// repeatText returns a string n times without keeping n copies.
func repeatText(s string, n int) io.Reader { return &repeated{s: s, left: len(s) * n} }

type repeated struct {
	s        string
	at, left int
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	total := 0
	for len(b) > 0 && r.left > 0 {
		n := copy(b[:min(len(b), r.left)], r.s[r.at:])
		r.at = (r.at + n) % len(r.s)
		r.left -= n
		total += n
		b = b[n:]
	}
	return total, nil
}

// mail joins strings and readers.
func mail(pieces ...any) func() io.Reader {
	return func() io.Reader {
		readers := make([]io.Reader, len(pieces))
		for i, piece := range pieces {
			switch piece := piece.(type) {
			case string:
				readers[i] = strings.NewReader(piece)
			case func() io.Reader:
				readers[i] = piece()
			}
		}
		return io.MultiReader(readers...)
	}
}

func repeatSource(s string, n int) func() io.Reader {
	return func() io.Reader { return repeatText(s, n) }
}

// repeatNumbered returns a pattern with the numbers from 0 on.
func repeatNumbered(pattern string, n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, pattern, i)
	}
	return all.String()
}

// megabytes returns a number of megabytes, in bytes.
func megabytes(n int) int { return n << 20 / scale }

const mixed = "Content-Type: multipart/mixed; boundary=b\r\n\r\n"

func hostileMessages() []hostile {
	list := []hostile{
		{name: "20,000 sections of a parameter", make: mail("Content-Type: text/plain", repeatNumbered(";\r\n name*%d=a", 20000), "\r\n\r\nx")},
		{name: "20,000 extended sections",
			make:  mail("Content-Disposition: attachment", repeatNumbered("; filename*%d*=%%41", 20000), "\r\n\r\nx"),
			check: oneFile},
		{name: "50,000 parameters", make: mail("Content-Type: text/plain", repeatNumbered("; a%d=b", 50000), "\r\n\r\nx")},
		{name: "a parameter of brackets", make: mail("Content-Type: text/plain; name=", repeatSource("(", 250000), "\r\n\r\nx")},
		{name: "a parameter of spaces and comments",
			make: mail("Content-Type: text/plain; name=", repeatSource(" ", 120000), repeatSource("()", 60000),
				"\r\n\r\nx")},
		{name: "a parameter of backslashes", make: mail(`Content-Type: text/plain; name="`, repeatSource(`\"`, 120000), "\r\n\r\nx")},
		{name: "50,000 text parts", make: mail(mixed,
			repeatSource("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n", 50000),
			"--b--\r\n"), check: func(t *testing.T, m *message.Message) {
			if len(m.Files) != 0 || m.Text != strings.Repeat("x\n", 499)+"x" {
				t.Errorf("%d files, text %q", len(m.Files), m.Text)
			}
		}},
		{name: "50,000 parts without anything", make: mail(mixed, repeatSource("--b\n", 50000))},
		{name: "5,000 nested multiparts", make: nestMultiparts(5000, ""), check: oneFile},
		{name: "400 nested multiparts with 400 parts each", make: nestMultiparts(400, strings.Repeat("--b399\r\n\r\nx\r\n", 400))},
		{name: "20 levels and 8 MB of what may be a boundary", make: nestMultiparts(20, "--b1\r\n"+strings.Repeat("--b19x\r\n", megabytes(1)))},
		{name: "8 MB of junk declared as base64",
			make: mail("Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n",
				repeatSource("\x00\xff!=%", megabytes(8)/5)), check: oneFile},
		{name: "24 MB attachment", make: mail(mixed,
			"--b\r\nContent-Disposition: attachment; filename=a\r\nContent-Transfer-Encoding: base64\r\n\r\n",
			repeatSource(strings.Repeat("QUJD", 19)+"\r\n", megabytes(24)/57), "--b--\r\n"),
			check: func(t *testing.T, m *message.Message) {
				if len(m.Files) != 1 || m.Files[0].Size != int64(megabytes(24)/57*57) {
					t.Errorf("the files are %+v, want one of %d bytes", m.Files, int64(megabytes(24)/57*57))
				}
			}},
		{name: "a field of 8 MB", make: mail("Subject: ", repeatSource("x", megabytes(8)), "\r\n\r\nbody"), check: body},
		{name: "8 MB of fields", make: mail(repeatSource("X: y\r\n", megabytes(8)/6), "\r\nbody"), check: body},
		{name: "8 MB of folded lines", make: mail("Subject: x\r\n", repeatSource(" y\r\n", megabytes(8)/4), "\r\nbody"), check: body},
		{name: "8 MB of fields in a part", make: mail(mixed, "--b\r\n", repeatSource("X: y\r\n", megabytes(8)/6), "\r\nbody\r\n--b--")},
		{name: "100,000 Received fields", make: mail(repeatSource("Received: from a by b\r\n", 100000), "\r\nbody"),
			check: func(t *testing.T, m *message.Message) {
				if m.Received != 100000 {
					t.Errorf("%d received", m.Received)
				}
			}},
		{name: "endless beginnings of a boundary", make: mail("Content-Type: multipart/mixed; boundary=",
			strings.Repeat("b", 60), "\r\n\r\n", repeatSource("--"+strings.Repeat("b", 59)+"\r\n", 400000))},
		{name: "one line of hyphens", make: mail(mixed, repeatSource("-", megabytes(8)))},
		{name: "8 MB of line ends", make: mail(mixed, "--b\r\n\r\n", repeatSource("\r\n", megabytes(4)))},
		{name: "8 MB of carriage returns", make: mail(mixed, "--b\r\n\r\n", repeatSource("\r", megabytes(8)))},
		{name: "5,000 fields of comments", make: mail(repeatSource("To: a@b.co (", 5000), repeatSource("(", 200000), "\r\n\r\n")},
	}
	for _, c := range []string{"(", "<", `"`, ":", ",", ";", "@", `\"`, `"a" `, "a@b.co,", "a@b.co(x),", "g:a@b.co;",
		"<@a,@b:", "=?a?q?", "=?a?b?=", "=?utf-8?q?=ff?= ", "=?big5?q?a?==?utf-8?q?b?=", "=?", "<>", "<a>"} {
		value := repeatSource(c, 240000/len(c)/4)
		list = append(list, hostile{name: "a header of " + c,
			make: mail("From: ", value, "\r\nTo: ", value, "\r\nSubject: ", value, "\r\nReferences: ", value,
				"\r\n\r\nbody"), check: body})
	}
	for _, c := range []string{"=", "=\r", "= ", "=a", " ", "\t\r\n", "=\r\n", "=3D"} {
		list = append(list, hostile{once: true, name: fmt.Sprintf("quoted-printable of %q", c),
			make: mail("Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n",
				repeatSource(c, megabytes(8)/len(c)))})
	}
	for _, charset := range []string{"utf-8", "utf-16", "iso-2022-jp", "gb18030", "x-unknown"} {
		for _, c := range []string{"\x80", "\x1b$B"} {
			list = append(list, hostile{once: true, name: fmt.Sprintf("text and html of %q in %s", c, charset),
				make: mail(
					"Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=",
					charset, "\r\n\r\n", repeatSource(c, megabytes(6)/len(c)),
					"\r\n--b\r\nContent-Type: text/html; charset=", charset, "\r\n\r\n",
					repeatSource(c, megabytes(6)/len(c)))})
		}
	}
	return list
}

// nestMultiparts nests multiparts, with the given content in the innermost one.
func nestMultiparts(depth int, inner string) func() io.Reader {
	all := new(strings.Builder)
	all.WriteString("Content-Type: multipart/mixed; boundary=b0\r\n\r\n")
	for i := range depth {
		fmt.Fprintf(all, "--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n", i, i+1)
	}
	return mail(all.String(), inner)
}

func oneFile(t *testing.T, m *message.Message) {
	if len(m.Files) != 1 {
		t.Errorf("%d files", len(m.Files))
	}
}

func body(t *testing.T, m *message.Message) {
	if m.Text != "body" {
		t.Errorf("text of %d bytes", len(m.Text))
	}
}

func TestHostileMessagesCostLittle(t *testing.T) {
	for _, h := range hostileMessages() {
		t.Run(h.name, func(t *testing.T) {
			var m *message.Message
			memory, work := measureCost(t, func() {
				var err error
				if m, err = message.Read(h.make()); err != nil {
					t.Fatal(err)
				}
			})
			if memory > mostMemory || work > mostWork {
				t.Errorf("reading it took %d MB in total and %v", memory>>20, work)
			}
			checkMessage(t, h.name, nil, &message.Message{From: m.From, FromAddress: m.FromAddress, To: m.To, CC: m.CC,
				ReplyTo: m.ReplyTo,
				Subject: m.Subject, MessageID: m.MessageID, References: m.References, Text: m.Text, HTML: m.HTML,
				Defects: m.Defects})
			if h.check != nil {
				h.check(t, m)
			}
			t.Logf("%d MB in all, %v", memory>>20, work.Round(time.Millisecond))
			if h.once {
				return
			}
			if memory, work := measureCost(t, func() {
				if _, err := message.ReadFile(h.make(), len(m.Files), io.Discard); err == nil {
					t.Error("it has one file more")
				}
			}); memory > mostMemory || work > mostWork {
				t.Errorf("reading a file took %d MB in total and %v", memory>>20, work)
			}
		})
	}
}

// measureCost returns the total allocations of a function, and its processor time.
func measureCost(t *testing.T, f func()) (memory uint64, work time.Duration) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work = expect.MeasureCPU(t, f)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, work
}

func BenchmarkHostile(b *testing.B) {
	for _, h := range hostileMessages() {
		b.Run(h.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := message.Read(h.make()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
