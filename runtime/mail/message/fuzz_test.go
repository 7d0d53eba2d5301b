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
		if authors, err := message.Authors(bytes.NewReader(raw)); err != nil || m.FromAddress != "" &&
			(len(authors) == 0 || authors[0] != m.FromAddress) {
			t.Errorf("from %q, authors %q: %v", m.FromAddress, authors, err)
		}
	})
}

func FuzzReadFull(f *testing.F) {
	seeds(f, func(raw []byte) { f.Add(raw) })
	f.Add([]byte("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-16\r\nContent-Transfer-Encoding: base64\r\n\r\nAAA\r\n--b\r\nbroken"))
	f.Add([]byte("From: \xff\x00<>\nTo: (((\nContent-Disposition: attachment; filename*0*=utf-8''%; filename*1=x\n\n=\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := message.ReadFull(bytes.NewReader(raw), message.Bounds{Text: 1000, Contents: 1000, Total: 100000})
		if err != nil {
			t.Fatal(err)
		}
		checkStrings(t, p)
		if len(p.Text) > 1000 || len(p.HTML) > 1000 {
			t.Errorf("with a bound of 1000 bytes the text has %d and the html %d", len(p.Text), len(p.HTML))
		}
	})
}

func FuzzReadFile(f *testing.F) {
	seeds(f, func(raw []byte) { f.Add(raw, 0) })
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		var data bytes.Buffer
		file, err := message.ReadFile(bytes.NewReader(raw), n, &data)
		if err == nil && file.Size != int64(data.Len()) {
			t.Errorf("%d bytes, want %d", data.Len(), file.Size)
		}
		if err != nil && data.Len() > 0 {
			t.Errorf("%v, and %d bytes", err, data.Len())
		}
	})
}

func seeds(f *testing.F, add func([]byte)) {
	for _, raw := range publicMessages(f) {
		if len(raw) < 4<<10 {
			add(raw)
		}
	}
	for _, h := range hostileMessages()[:4] {
		raw, err := io.ReadAll(io.LimitReader(h.make(), 4<<10))
		if err != nil {
			f.Fatal(err)
		}
		add(raw)
	}
}
