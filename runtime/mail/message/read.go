package message

import (
	"fmt"
	"io"
	"strings"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
)

const maxDefects = 20

// Read reads a message to its end.
func Read(r io.Reader) (*Message, error) {
	p, err := mime.Parse(r, mime.Limits{DataBytes: 1})
	m := &Message{
		To: displays(p.To), CC: displays(p.CC), ReplyTo: displays(p.ReplyTo),
		Subject: p.Subject, MessageID: p.MessageID, References: p.References, Date: p.Date,
		Text: p.Text, HTML: p.HTML, Defects: p.Problems[:min(len(p.Problems), maxDefects)],
	}
	for _, h := range p.Headers {
		m.Header = append(m.Header, Field(h))
		switch strings.ToLower(h.Name) {
		case "received":
			m.Received++
		case "auto-submitted":
			m.AutoSubmitted = m.AutoSubmitted || !strings.HasPrefix(strings.ToLower(h.Value), "no")
		case "precedence":
			switch strings.ToLower(h.Value) {
			case "bulk", "junk", "auto_reply":
				m.AutoSubmitted = true
			}
		}
	}
	if len(p.From) > 0 {
		m.From = display(p.From[0])
		if a, err := address.Parse(p.From[0].Address); err == nil {
			m.FromAddress = a.AddrSpec()
		}
	}
	if p.InReplyTo != "" {
		m.InReplyTo = &p.InReplyTo
	}
	for _, part := range p.Parts {
		m.Files = append(m.Files, fileOf(part))
	}
	return m, err
}

// ReadFile writes the n-th of Files, decoded.
func ReadFile(r io.Reader, n int, w io.Writer) (File, error) {
	p, err := mime.Parse(r, mime.Limits{DataBytes: 150 << 20})
	if err != nil {
		return File{}, err
	}
	if n < 0 || n >= len(p.Parts) {
		return File{}, ErrNoFile
	}
	if _, err := w.Write(p.Parts[n].Data); err != nil {
		return File{}, fmt.Errorf("write file: %w", err)
	}
	return fileOf(p.Parts[n]), nil
}

func fileOf(p mime.Part) File {
	return File{Filename: p.Name, ContentType: p.ContentType, ContentID: p.ContentID, Inline: p.Inline, Size: p.Size}
}

func displays(boxes []mime.Mailbox) []string {
	list := make([]string, 0, len(boxes))
	for _, b := range boxes {
		list = append(list, display(b))
	}
	return list
}

func display(b mime.Mailbox) string {
	if a, err := address.New(b.Name, b.Address); err == nil {
		return a.String()
	}
	return strings.TrimSpace(b.Name + " " + b.Address)
}

func get(header []Field, name string) string {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}
