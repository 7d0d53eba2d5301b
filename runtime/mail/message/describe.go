package message

import (
	"net/mail"
	"strings"
	"time"
)

// describe extracts the common fields from the header.
func (p *parser) describe(h header) {
	m := p.out
	m.Header = h.decoded()
	m.Subject = bounded(m.Get("Subject"), maxSubject)
	if from, _ := mailboxes(h.get("From")); len(from) > 0 {
		m.From, m.FromAddress = from[0].display(), from[0].addrSpec()
	} else {
		m.From = bounded(m.Get("From"), maxDisplay)
	}
	switch {
	case h.get("From") == "":
		p.defect("The message has no From.")
	case m.FromAddress == "":
		p.defect("From is not an address.")
	case len(h.all("From")) > 1:
		p.defect("The message has more than one From, the first is shown.")
	}
	m.To = p.list(h, "To")
	m.CC = p.list(h, "Cc")
	m.ReplyTo = p.list(h, "Reply-To")
	m.MessageID = firstID(h.get("Message-ID"))
	if id := firstID(h.get("In-Reply-To")); id != "" {
		m.InReplyTo = &id
	}
	m.References = ids(h.get("References"))
	m.Date = p.date(h.get("Date"))
	m.AutoSubmitted = automatic(h)
}

// list returns the display forms of the addresses in all fields of a name.
func (p *parser) list(h header, name string) []string {
	list := []string{}
	for _, value := range h.all(name) {
		boxes, more := mailboxes(value)
		for _, box := range boxes {
			if more = more || len(list) == maxList; len(list) < maxList {
				list = append(list, box.display())
			}
		}
		if more {
			p.defect("%s has more than %d addresses, the rest was left out.", name, maxList)
			break
		}
	}
	return list
}

// automatic reports whether the message is automatic by RFC 3834, 5 or by older signs. Reports (RFC 6522)
// are automatic, too.
func automatic(h header) bool {
	for _, value := range h.all("Auto-Submitted") {
		if word := firstWord(value); word != "" && word != "no" {
			return true
		}
	}
	for _, value := range h.all("Precedence") {
		switch firstWord(value) {
		case "bulk", "junk", "auto_reply":
			return true
		}
	}
	return readContentType(h.get("Content-Type")).name == "multipart/report"
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

// ids returns the message ids in a field, whatever is between them.
func ids(value string) []string {
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
	if list := ids(bounded(value, 4*maxID)); len(list) > 0 {
		return list[0]
	}
	return tidyID(strings.Trim(value, "<> \t"))
}

func tidyID(id string) string {
	return bounded(strings.TrimSpace(oneLine(clean([]byte(bounded(id, maxID))))), maxID)
}

func contentID(value string) string { return tidyID(strings.Trim(value, "<> \t")) }

// maxDate is longer than any date.
const maxDate = 200

func (p *parser) date(value string) time.Time {
	if value == "" {
		return time.Time{}
	}
	date, err := mail.ParseDate(value[:min(len(value), maxDate)])
	if err != nil {
		p.defect("Date is not a date.")
		return time.Time{}
	}
	return date
}
