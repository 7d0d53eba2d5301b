// Package bounce says what a refusal is about: the address, the mailbox, the
// receiving system, the message, or the sender.
//
// Classify is pure. It takes an SMTP reply or a line of a delivery status
// notification and gives a Class. The class says why, never whether the refusal was
// final: the same full mailbox answers 452 today and 552 tomorrow. Whether to try
// again follows the reply's own first digit (RFC 5321, 4.2.1); the class decides what
// comes after.
//
// Three tables decide, in this order:
//
//  1. phrases that one kind of server is known for (phrases.go), where they tell more
//     than the code beside them or contradict it: Gmail's throttling wears the code
//     of a disabled mailbox, greylisting that of policy;
//  2. subject and detail of the enhanced status code (RFC 3463 and the registry that
//     it began, codes.go). Details that say little (X.0.0, X.7.1) leave the word
//     first to the common words;
//  3. common words (words.go), then the basic code alone (RFC 5321, 4.2.3).
//
// A text that begins with its codes may be given whole.
package bounce

import (
	"regexp"
	"strings"
)

// Class is what a refusal is about.
type Class string

// The classes.
const (
	BadAddress  Class = "bad_address"  // hard: no such mailbox, closed, moved, not a valid address
	BadDomain   Class = "bad_domain"   // hard: the domain takes no mail at all
	MailboxFull Class = "mailbox_full" // soft: over quota
	System      Class = "system"       // soft: the other side, or the way to it, is out of order
	Block       Class = "block"        // the sending address or domain has a bad name with the receiver
	Throttle    Class = "throttle"     // too much at once
	Greylist    Class = "greylist"     // come back in some minutes
	Size        Class = "size"         // the message is too large
	Content     Class = "content"      // the message is taken for spam, carries a virus or a forbidden file, or cannot be converted
	Policy      Class = "policy"       // authentication (SPF, DKIM, DMARC), relaying, TLS, the receiver's own rules
	Challenge   Class = "challenge"    // the receiver wants the sender to prove something first
	Unknown     Class = "unknown"      // refused, and nothing tells what for
)

// Classes are all classes.
var Classes = []Class{BadAddress, BadDomain, MailboxFull, System, Block, Throttle, Greylist, Size, Content, Policy, Challenge, Unknown}

// Hard says that no message to the address will arrive.
func (c Class) Hard() bool { return c == BadAddress || c == BadDomain }

// Soft says that the address is fine as far as one can tell, but takes no mail now.
func (c Class) Soft() bool { return c == MailboxFull || c == System }

// Bounces tells whether a delivery that ended for good with this class is a bounce of its
// recipient, who is not written to any more. A mailbox that was full as long as retries went
// on is one, and so is a refusal that nobody can class. A refusal of the message or of its
// sender is none: another message may well arrive.
func (c Class) Bounces() bool { return c.Hard() || c.Soft() || c == Unknown }

// Throttles says that the sender should hold back with everything for this
// destination. Hammering a receiver that blocks makes its opinion worse.
func (c Class) Throttles() bool { return c == Throttle || c == Block }

// Reply is what is known of a refusal; any part may be missing.
type Reply struct {
	Code     int    // 550; 0 when there was none
	Enhanced string // "5.1.1", or empty
	Text     string // the reply's or the diagnostic's text
}

// Classify decides. What is no refusal at all (2yz, 3yz) is Unknown.
func Classify(r Reply) Class {
	class, _ := decide(r)
	return class
}

// maxText is how much of a text is looked at; a reply line has 512 octets.
const maxText = 4000

// decide also names the row that decided, for the tests: every row has its example.
func decide(r Reply) (class Class, row string) {
	if r.Code/100 == 2 || r.Code/100 == 3 || r.Code == 0 && strings.HasPrefix(r.Enhanced, "2.") {
		return Unknown, "no refusal"
	}
	text := plain(r.Text)
	subject, detail, known := splitEnhanced(r.Enhanced)
	for _, p := range phrases {
		if (p.code == "" || p.code == subject+"."+detail) && strings.Contains(text, p.text) {
			return p.class, p.text
		}
	}
	var code enhanced
	if known {
		code, known = enhancedRow(subject, detail)
	}
	if known && !code.vague {
		return code.class, code.code
	}
	for _, w := range words {
		if w.mayFollow(subject) && strings.Contains(text, w.text) {
			return w.class, w.text
		}
	}
	if known {
		return code.class, code.code
	}
	return byCode(r)
}

// addresses in angle brackets, and the name of the host that Postfix quotes, hold
// words of their own: spam@, content.example.net.
var addresses = regexp.MustCompile(`<[^<> ]*@[^<> ]*>`)

// plain is a text as the tables are written: lower case, one space between words and
// at both ends.
func plain(text string) string {
	text = strings.ToLower(text[:min(len(text), maxText)])
	if host, reply, found := strings.Cut(text, " said: "); found && strings.HasPrefix(strings.TrimSpace(host), "host ") {
		text = reply
	}
	text = addresses.ReplaceAllString(strings.ReplaceAll(text, "’", "'"), "<>")
	return " " + strings.Join(strings.Fields(text), " ") + " "
}

// splitEnhanced takes the subject and the detail from a code: the class before them
// only says whether trying again may help.
func splitEnhanced(code string) (subject, detail string, ok bool) {
	parts := strings.Split(strings.TrimSpace(code), ".")
	if len(parts) != 3 {
		return "", "", false
	}
	for _, part := range parts {
		if len(part) == 0 || len(part) > 3 || strings.Trim(part, "0123456789") != "" {
			return "", "", false
		}
	}
	trim := func(number string) string {
		if number = strings.TrimLeft(number, "0"); number == "" {
			return "0"
		}
		return number
	}
	return trim(parts[1]), trim(parts[2]), true
}
