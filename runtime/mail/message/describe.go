package message

import (
	"net/mail"
	"strings"
	"time"
)

// describeHeader extracts the common fields from the header.
func (p *parser) describeHeader(h header) {
	m := p.out
	m.Header = h.decodedFields()
	m.Subject = truncateText(m.Get("Subject"), maxSubject)
	if from, _ := parseMailboxes(h.firstValue("From")); len(from) > 0 {
		m.From, m.FromAddress = from[0].displayForm(), from[0].addrSpec()
	} else {
		m.From = truncateText(m.Get("From"), maxDisplay)
	}
	switch {
	case h.firstValue("From") == "":
		p.recordDefect("The message has no From.")
	case m.FromAddress == "":
		p.recordDefect("From is not an address.")
	case len(h.allValues("From")) > 1:
		p.recordDefect("The message has more than one From, the first is shown.")
	}
	m.To = p.addressList(h, "To")
	m.CC = p.addressList(h, "Cc")
	m.ReplyTo = p.addressList(h, "Reply-To")
	m.MessageID = firstID(h.firstValue("Message-ID"))
	if id := firstID(h.firstValue("In-Reply-To")); id != "" {
		m.InReplyTo = &id
	}
	m.References = messageIDs(h.firstValue("References"))
	m.Date = p.parseDate(h.firstValue("Date"))
	m.AutoSubmitted = isAutomatic(h)
}

// addressList returns the display forms of the addresses in all fields of a name.
func (p *parser) addressList(h header, name string) []string {
	list := []string{}
	for _, value := range h.allValues(name) {
		boxes, more := parseMailboxes(value)
		for _, box := range boxes {
			if more = more || len(list) == maxList; len(list) < maxList {
				list = append(list, box.displayForm())
			}
		}
		if more {
			p.recordDefect("%s has more than %d addresses, the rest was omitted.", name, maxList)
			break
		}
	}
	return list
}

// isAutomatic reports whether the message is automatic by RFC 3834, 5 or by older signs. Reports (RFC 6522)
// are automatic, too.
func isAutomatic(h header) bool {
	for _, value := range h.allValues("Auto-Submitted") {
		if word := firstWord(value); word != "" && word != "no" {
			return true
		}
	}
	for _, value := range h.allValues("Precedence") {
		switch firstWord(value) {
		case "bulk", "junk", "auto_reply":
			return true
		}
	}
	return readContentType(h.firstValue("Content-Type")).name == "multipart/report"
}

func firstWord(value string) string {
	value = strings.ToLower(strings.TrimSpace(withoutComment(value)))
	if i := strings.IndexAny(value, " \t;"); i >= 0 {
		value = value[:i]
	}
	return value
}

// withoutComment cuts a value before a comment.
func withoutComment(value string) string {
	value, _, _ = strings.Cut(value, "(")
	return value
}

// messageIDs returns the message ids in a field, whatever is between them.
func messageIDs(value string) []string {
	list := []string{}
	for len(list) < maxList {
		_, rest, found := strings.Cut(value, "<")
		if !found {
			break
		}
		id, after, closed := strings.Cut(rest, ">")
		if !closed {
			break
		}
		if id = tidyID(id); id != "" {
			list = append(list, id)
		}
		value = after
	}
	return list
}

// firstID also accepts an id without angle brackets.
func firstID(value string) string {
	if list := messageIDs(truncateText(value, 4*maxID)); len(list) > 0 {
		return list[0]
	}
	return tidyID(strings.Trim(value, "<> \t"))
}

func tidyID(id string) string {
	return truncateText(strings.TrimSpace(oneLine(cleanText([]byte(truncateText(id, maxID))))), maxID)
}

func contentID(value string) string { return tidyID(strings.Trim(value, "<> \t")) }

// maxDate is longer than any date.
const maxDate = 200

func (p *parser) parseDate(value string) time.Time {
	if value == "" {
		return time.Time{}
	}
	date, err := mail.ParseDate(value[:min(len(value), maxDate)])
	if err != nil {
		p.recordDefect("Date is not a date.")
		return time.Time{}
	}
	return date
}
