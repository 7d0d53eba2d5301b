package dsn

import (
	"regexp"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
)

// isMessage reports whether a part contains a message or the header of one.
func isMessage(contentType string) bool {
	switch contentType {
	case "message/rfc822", "message/global", "text/rfc822", "text/rfc822-headers", "text/rfc822-header",
		"message/rfc822-headers", "message/global-headers", "message/partial":
		return true
	}
	return false
}

// readOriginal reads the returned part of the message: a separate part, or the end of the text. Failing
// that, a reply at least names the message that it replies to.
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

// maxHeaders bounds the kept part of a returned header.
const maxHeaders = 200

func readOriginal(data []byte) Original {
	// Some gateways repeat the fields of the part in its content, or add an empty line.
	head := strings.TrimLeft(string(data[:min(len(data), maxText)]), " \t\r\n")
	m, err := message.ReadHead(strings.NewReader(head))
	if err != nil {
		return Original{} // a string reader has no errors
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
	// Or the copy without such a line: the first fields of a returned message.
	returnedHead = regexp.MustCompile(`(?im)^[ \t>|]*(?:Return-Path: ?<|Received: (?:from|by|\()|Message-ID: ?<|DKIM-Signature: ?v=)`)
)

// cutReturned separates a text from the message that it returns.
func cutReturned(text string) (explanation, returned string) {
	if at := returnedMark.FindStringIndex(text); at != nil {
		return text[:at[0]], removeQuoteMarks(text[at[1]:])
	}
	if at := returnedHead.FindStringIndex(text); at != nil {
		if before, rest := text[:at[0]], text[at[0]:]; isIndented(rest) && !containsCode(before) {
			// Oracle's servers identify the message by some of its fields before they explain.
			if head, after, _ := strings.Cut(rest, "\n\n"); containsCode(after) {
				return before + "\n" + after, removeQuoteMarks(head)
			}
		}
		return text[:at[0]], removeQuoteMarks(text[at[0]:])
	}
	return text, ""
}

func isIndented(text string) bool {
	text = strings.TrimLeft(text, "\r\n")
	return text != "" && (text[0] == ' ' || text[0] == '\t')
}

func containsCode(text string) bool {
	code, enhanced := findCodes(oneLine(text))
	return code != 0 || enhanced != ""
}

// removeQuoteMarks removes the quotation marks before each line of the copy, along with lines of hyphens and
// empty lines before the first field.
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
