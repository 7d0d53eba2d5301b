package dsn

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/mime"
)

// TestBothReadersGiveTheSameReports compares what the reader of package message and that
// of package mime make of every report and every other message of the corpora, whole and
// cut off behind several lines. It goes together with the second reader.
func TestBothReadersGiveTheSameReports(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, pattern := range []string{"testdata/*.eml", "../message/testdata/*", "../mime/testdata/*.eml", "../../../modules/*/testdata/*.eml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil || strings.HasSuffix(path, ".json") {
				continue // a folder
			}
			for _, size := range []int{len(raw), len(raw) * 9 / 10, len(raw) * 2 / 3, len(raw) / 2, len(raw) / 4} {
				compared++
				cut := raw[:bytes.LastIndexByte(raw[:size], '\n')+1]
				was, is := byMIME(t, cut), byMessage(t, cut)
				options := cmp.Options{cmpopts.EquateComparable(netip.Addr{})}
				if len(cut) < len(raw) {
					// The other reader shows the boundaries of a message that was cut off as text.
					options = append(options, cmpopts.IgnoreFields(RecipientReport{}, "Diagnostic"))
				}
				if diff := cmp.Diff(was, is, options); diff != "" {
					t.Errorf("%s, its first %d of %d octets: the two readers give different reports (-mime +message):\n%s", path, len(cut), len(raw), diff)
				}
			}
		}
	}
	t.Logf("%d messages compared", compared)
}

func byMessage(t *testing.T, raw []byte) Report {
	t.Helper()
	r, err := Parse(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// byMIME is Parse with the other reader.
func byMIME(t *testing.T, raw []byte) Report {
	t.Helper()
	p, err := mime.Parse(bytes.NewReader(raw), mime.Limits{TextBytes: maxText, DataBytes: maxData, TotalBytes: maxTotal})
	if err != nil {
		t.Fatal(err)
	}
	m := &message.Message{Subject: p.Subject, Text: p.Text, HTML: p.HTML, References: p.References}
	for _, h := range p.Headers {
		m.Header = append(m.Header, message.Field{Name: h.Name, Value: h.Value})
	}
	if p.InReplyTo != "" {
		m.InReplyTo = &p.InReplyTo
	}
	whole := &message.Whole{Message: m}
	for _, from := range p.From {
		whole.Authors = append(whole.Authors, message.Mailbox{Name: from.Name, Address: from.Address})
	}
	for _, part := range p.Parts {
		m.Files = append(m.Files, message.File{ContentType: part.ContentType})
		whole.Contents = append(whole.Contents, part.Data)
	}
	return newExamination(whole, string(raw[:min(len(raw), maxText)])).report()
}
