package dsn

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
)

// Notification is the input of Compose.
type Notification struct {
	From         address.Address // sender of the report, may have a display name
	To           address.Address // the envelope sender of the original message
	Subject      string
	MessageID    string // without angle brackets
	Date         time.Time
	Text         string // for people
	ReportingMTA string // our host name
	EnvelopeID   string // ENVID of the sender, or empty
	ArrivalDate  time.Time
	Recipients   []RecipientReport
	Headers      []byte // the header of the original message, unchanged; may be nil
}

// Compose writes a notification of RFC 3464: 7-bit, CRLF, with the header of the original but without its
// body, so that no unsolicited content is returned. Send it with the null return path.
func Compose(n Notification) ([]byte, error) {
	if len(n.Recipients) == 0 {
		return nil, errors.New("a delivery status notification requires a recipient")
	}
	status, err := n.statusPart()
	if err != nil {
		return nil, err
	}
	parts := []reportPart{{"message/delivery-status", "7bit", status}}
	if n.Headers != nil {
		parts = append(parts, returnedHeaders(n.Headers))
	}
	return multipartReport("delivery-status", mime.Message{From: n.From, To: []address.Address{n.To},
		Subject: n.Subject, MessageID: n.MessageID, Date: n.Date, Text: n.Text}, parts...)
}

// reportPart is a part of a report after the text for people.
type reportPart struct{ contentType, encoding, body string }

// returnedHeaders returns the part with the header of the reported message.
func returnedHeaders(header []byte) reportPart {
	return reportPart{"text/rfc822-headers; charset=utf-8", "base64", inBase64(header)}
}

// multipartReport writes a message of RFC 6522: the header and the text of m, followed by the parts of the
// report.
func multipartReport(reportType string, m mime.Message, parts ...reportPart) ([]byte, error) {
	// The header is the same as for any message of ours; only its content is replaced.
	m.Headers = []mime.Header{{Name: "Auto-Submitted", Value: "auto-replied"}}
	plain, err := mime.Compose(m)
	if err != nil {
		return nil, fmt.Errorf("compose report: %w", err)
	}
	head, _, _ := bytes.Cut(plain, []byte("\r\n\r\n"))
	var out bytes.Buffer
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		if lower := bytes.ToLower(line); !bytes.HasPrefix(lower, []byte("content-")) {
			out.Write(line)
			out.WriteString("\r\n")
		}
	}
	// A boundary with an underscore after "=" occurs neither in base64 nor in our fields.
	boundary := "=_" + strings.ReplaceAll(reportType, "-", "_")
	out.WriteString("Content-Type: multipart/report; report-type=" + reportType + ";\r\n boundary=\"" +
		boundary + "\"\r\n")
	for _, p := range append([]reportPart{{"text/plain; charset=utf-8", "base64", inBase64([]byte(toCRLF(m.Text)))}},
		parts...) {
		fmt.Fprintf(&out, "\r\n--%s\r\nContent-Type: %s\r\nContent-Transfer-Encoding: %s\r\n\r\n%s", boundary,
			p.contentType, p.encoding, p.body)
	}
	out.WriteString("\r\n--" + boundary + "--\r\n")
	return out.Bytes(), nil
}

// statusPart returns the machine-readable part. It must always be 7-bit (RFC 3464, 2.1.1), so addresses use
// the encoding of RFC 6533, 3, and non-ASCII characters are removed from diagnostics.
func (n Notification) statusPart() (string, error) {
	var b strings.Builder
	put := func(name, value string) {
		if value = oneLine(value); value != "" {
			b.WriteString(foldText(name + ": " + value))
		}
	}
	when := func(name string, t time.Time) {
		if !t.IsZero() {
			put(name, t.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"))
		}
	}
	put("Original-Envelope-Id", toASCII(n.EnvelopeID))
	put("Reporting-MTA", "dns; "+toASCII(n.ReportingMTA))
	when("Arrival-Date", n.ArrivalDate)
	for _, one := range n.Recipients {
		if one.Address == "" || parseAction(string(one.Action)) != one.Action || one.Action == "" ||
			parseStatus(one.Status) != one.Status || one.Status == "" {
			return "", fmt.Errorf("recipient %q with action %q and status %q cannot be reported", one.Address,
				one.Action, one.Status)
		}
		b.WriteString("\r\n")
		if one.OriginalAddress != "" {
			put("Original-Recipient", typedAddress(one.OriginalAddress))
		}
		put("Final-Recipient", typedAddress(one.Address))
		put("Action", string(one.Action))
		put("Status", one.Status)
		if one.RemoteMTA != "" {
			put("Remote-MTA", "dns; "+toASCII(one.RemoteMTA))
		}
		if one.Diagnostic != "" {
			put("Diagnostic-Code", "smtp; "+toASCII(one.Diagnostic))
		}
		when("Will-Retry-Until", one.WillRetryUntil)
	}
	return b.String(), nil
}

func typedAddress(spec string) string {
	var b strings.Builder
	kind := "rfc822; "
	for _, r := range spec {
		if r > '~' {
			kind = "utf-8; "
			fmt.Fprintf(&b, `\x{%X}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return kind + b.String()
}

func toASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, s)
}

// foldText breaks a field at spaces, near 76 bytes.
func foldText(s string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(s, " ") {
		switch {
		case i > 1 && column+1+len(word) > 76:
			b.WriteString("\r\n ")
			column = 1
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\r\n"
}

func inBase64(data []byte) string {
	var b strings.Builder
	for encoded := base64.StdEncoding.EncodeToString(data); encoded != ""; {
		n := min(76, len(encoded))
		b.WriteString(encoded[:n] + "\r\n")
		encoded = encoded[n:]
	}
	return b.String()
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}
