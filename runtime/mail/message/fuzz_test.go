package message_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/postrider/postrider/runtime/mail/message"
)

func FuzzRead(f *testing.F) {
	seeds(f, func(raw []byte) { f.Add(raw) })
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := message.Read(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		checkMessage(t, "message", raw, m)
		if header, err := message.Header(bytes.NewReader(raw)); err != nil || len(header) != len(m.Header) {
			t.Errorf("header of %d fields, %d when read alone: %v", len(m.Header), len(header), err)
		}
		if authors, err := message.Authors(bytes.NewReader(raw)); err != nil || m.FromAddress != "" && (len(authors) == 0 || authors[0] != m.FromAddress) {
			t.Errorf("from %q, authors %q: %v", m.FromAddress, authors, err)
		}
	})
}

func FuzzReadFile(f *testing.F) {
	seeds(f, func(raw []byte) { f.Add(raw, 0) })
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		var data bytes.Buffer
		file, err := message.ReadFile(bytes.NewReader(raw), n, &data)
		if err == nil && file.Size != int64(data.Len()) {
			t.Errorf("%d octets, should be %d", data.Len(), file.Size)
		}
		if err != nil && data.Len() > 0 {
			t.Errorf("%v, and %d octets", err, data.Len())
		}
	})
}

func seeds(f *testing.F, add func([]byte)) {
	for _, raw := range publicMessages(f) {
		if len(raw) < 4<<10 {
			add(raw)
		}
	}
	for _, h := range hostiles()[:4] {
		raw, err := io.ReadAll(io.LimitReader(h.make(), 4<<10))
		if err != nil {
			f.Fatal(err)
		}
		add(raw)
	}
}
