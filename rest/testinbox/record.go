package testinbox

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/mail/message"
)

const modeTest = "test"

// CapturedHead is an email without its content. It is exported because it is embedded.
type CapturedHead struct {
	ID         string    `json:"id" doc:"ID of the captured email." example:"tml_Yk3v9QpA1mW5rT8yB2nC4w"`
	Mode       string    `json:"mode" enum:"test" doc:"Always test."`
	From       string    `json:"from" doc:"The From field of the message, decoded." example:"Ada <ada@example.com>"`
	To         []string  `json:"to" nullable:"false" doc:"The envelope recipients."`
	ReturnPath string    `json:"return_path" doc:"The envelope sender."`
	Subject    string    `json:"subject" doc:"The subject, decoded." example:"Reset your password"`
	MessageID  string    `json:"message_id" doc:"The Message-ID field of the message."`
	Size       int       `json:"size" doc:"Size of the message in bytes." example:"2048"`
	ReceivedAt wire.Time `json:"received_at" doc:"When the email was captured."`
}

type listedEmail struct {
	CapturedHead

	Snippet string `json:"snippet" doc:"The beginning of the text."`
}

type capturedField struct {
	Name  string `json:"name" doc:"The name of the header field." example:"Subject"`
	Value string `json:"value" doc:"The value of the header field, unfolded and decoded."`
}

type capturedFile struct {
	Filename    string `json:"filename" doc:"The name of the file; empty if it has none." example:"invoice.pdf"`
	ContentType string `json:"content_type" doc:"The media type." example:"application/pdf"`
	Size        int64  `json:"size" doc:"Size of the file in bytes." example:"1024"`
	Inline      bool   `json:"inline" doc:"Whether the file is shown inside the message."`
}

type capturedEmail struct {
	CapturedHead

	HTML        *string         `json:"html" doc:"The HTML body; null if there is none. It can contain input of your users: show it in a sandbox without scripts."`
	Text        *string         `json:"text" doc:"The text body; null if there is none."`
	Links       []string        `json:"links" nullable:"false" doc:"The distinct links of the HTML body, or of the text body if there is no HTML, in order."`
	Headers     []capturedField `json:"headers" nullable:"false" doc:"The header fields in order."`
	Attachments []capturedFile  `json:"attachments" nullable:"false" doc:"The attachments, without their contents."`
	Findings    []wire.Finding  `json:"findings" nullable:"false" doc:"Problems of the message, as POST /emails/check finds them."`
}

type capturedAnswer struct {
	CapturedEmail capturedEmail `json:"captured_email" doc:"The captured email, with its content."`
}

func (e *edge) newAnswer(m *ent.CapturedMail) (out capturedAnswer, err error) {
	parsed, err := message.ReadFull(bytes.NewReader(m.Raw), message.Bounds{Contents: len(m.Raw) + 1})
	if err != nil {
		return out, fmt.Errorf("parse a captured email: %w", err)
	}
	findings, links := check(m, parsed)
	w := capturedEmail{CapturedHead: e.newRecord(m), HTML: wire.OrNull(parsed.HTML), Text: wire.OrNull(parsed.Text), Links: links,
		Headers: []capturedField{}, Attachments: []capturedFile{}, Findings: findings}
	for _, h := range parsed.Header {
		w.Headers = append(w.Headers, capturedField{h.Name, h.Value})
	}
	for _, f := range parsed.Files {
		w.Attachments = append(w.Attachments, capturedFile{f.Filename, f.ContentType, f.Size, f.Inline})
	}
	return capturedAnswer{w}, nil
}

// maxTextLinks bounds the links found in a text body.
const maxTextLinks = 100

var textLink = regexp.MustCompile(`https?://[^\s<>"']+`)

// check returns the problems of a message and its links, which may already be tracked ones.
func check(m *ent.CapturedMail, parsed *message.FullMessage) ([]wire.Finding, []string) {
	domain := ""
	if from, err := address.Parse(m.From); err == nil {
		domain = from.Domain
	}
	found, targets := lint.Inspect(lint.Mail{Subject: m.Subject, HTML: parsed.HTML, Text: parsed.Text, Domain: domain,
		Header: m.Raw, Recipients: len(m.RcptTo), Tracked: true})
	links := []string{}
	for _, l := range targets {
		links = append(links, l.URL)
	}
	if parsed.HTML == "" {
		for _, l := range textLink.FindAllString(parsed.Text, maxTextLinks) {
			if l = strings.TrimRight(l, ".,;:!?)"); !slices.Contains(links, l) {
				links = append(links, l)
			}
		}
	}
	return wire.Findings(found), links
}

const exampleID = "tml_Yk3v9QpA1mW5rT8yB2nC4w"

func exampleRecord() map[string]any {
	return map[string]any{"id": exampleID, "mode": modeTest, "from": "Ada <ada@example.com>",
		"to": []any{"bob@example.net"}, "return_path": "bounce+abc@rp.example.com", "subject": "Reset your password",
		"message_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta@example.com", "size": 2048,
		"received_at": "2026-01-15T09:30:00.000Z", "snippet": "Follow this link to reset your password."}
}

func exampleWhole() map[string]any {
	out := exampleRecord()
	delete(out, "snippet")
	out["html"] = `<p><a href="https://app.example.com/reset?t=abc">Reset your password</a></p>`
	out["text"] = "Reset your password: https://app.example.com/reset?t=abc"
	out["links"] = []any{"https://app.example.com/reset?t=abc"}
	out["headers"] = []any{map[string]any{"name": "Subject", "value": "Reset your password"}}
	out["attachments"] = []any{}
	out["findings"] = []any{wire.FindingExample()}
	return out
}
