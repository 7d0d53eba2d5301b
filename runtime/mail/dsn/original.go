package dsn

import (
	"regexp"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
)

// isMessage: a part that holds a message, or the header of one.
func isMessage(contentType string) bool {
	switch contentType {
	case "message/rfc822", "message/global", "text/rfc822", "text/rfc822-headers", "text/rfc822-header", "message/rfc822-headers", "message/global-headers", "message/partial":
		return true
	}
	return false
}

// readOriginal reads what came back of the message: a part of its own, or the end of the
// text. Failing that, a reply tells at least what it replies to.
func (e *reportParser) readOriginal() Original {
	o := Original{}
	for _, part := range e.parts {
		if isMessage(part.contentType) {
			if o = readOriginal(part.data); o.isKnown() {
				break
			}
		}
	}
	if !o.isKnown() && e.returned != "" {
		o = readOriginal([]byte(e.returned))
	}
	if o.MessageID == "" && e.message.InReplyTo != nil {
		o.MessageID = oneLine(*e.message.InReplyTo)
	}
	if o.MessageID == "" && len(e.message.References) > 0 {
		o.MessageID = oneLine(e.message.References[len(e.message.References)-1])
	}
	return o
}

func (o Original) isKnown() bool { return o.MessageID != "" || o.From != "" || o.Subject != "" }

// maxHeaders bounds what is kept of a returned header.
const maxHeaders = 200

func readOriginal(data []byte) Original {
	// Some gateways put the fields of the part into it once more, or an empty line.
	head := strings.TrimLeft(string(data[:min(len(data), maxText)]), " \t\r\n")
	m, err := message.ReadHead(strings.NewReader(head))
	if err != nil {
		return Original{} // a string has no errors
	}
	o := Original{MessageID: boundText(m.MessageID), Subject: boundText(m.Subject)}
	if len(m.Authors) > 0 {
		o.From = boundText(m.Authors[0].Address)
	}
	for _, to := range m.Recipients[:min(len(m.Recipients), maxRecipients)] {
		if to.Address != "" {
			o.To = append(o.To, boundText(to.Address))
		}
	}
	for _, f := range m.Header[:min(len(m.Header), maxHeaders)] {
		o.Headers = append(o.Headers, message.Field{Name: f.Name, Value: boundText(f.Value)})
	}
	return o
}

var (
	// The line that servers put before a copy of the message.
	returnedMark = regexp.MustCompile(`(?im)^[ \t>]*(?:-{2,}[^\n]{0,100}(?:copy of|original message|message header|unsent message|undelivered message|returned message|message follows|headers? follow|header of the)[^\n]{0,100}|` +
		`(?:original message headers?|original message follows|message headers? follows?|below (?:this line )?is a copy|the following is a copy|(?:the|your) original message:)[^\n]{0,60})[ \t]*$`)
	// Or the copy without one: the first fields that a message has when it comes back.
	returnedHead = regexp.MustCompile(`(?im)^[ \t>|]*(?:Return-Path: ?<|Received: (?:from|by|\()|Message-ID: ?<|DKIM-Signature: ?v=)`)
)

// cutReturned parts a text from the message that it returns.
func cutReturned(text string) (explanation, returned string) {
	if at := returnedMark.FindStringIndex(text); at != nil {
		return text[:at[0]], removeQuoteMarks(text[at[1]:])
	}
	if at := returnedHead.FindStringIndex(text); at != nil {
		return text[:at[0]], removeQuoteMarks(text[at[0]:])
	}
	return text, ""
}

// removeQuoteMarks takes the marks away behind which the copy stands. Lines of hyphens and
// empty ones before the first field go, too.
func removeQuoteMarks(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(line, ">"), "|"), " ")
		if out.Len() == 0 {
			line = strings.TrimLeft(line, " \t-\r\n")
		}
		out.WriteString(line)
		if out.Len() > maxText {
			break
		}
	}
	return out.String()
}
