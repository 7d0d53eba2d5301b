// Package dsn parses messages to a return path, and composes two kinds of report: the notification of a
// failed delivery (Compose), and a reader's complaint (ComposeComplaint), which development mode simulates.
//
// Parse distinguishes delivery status notifications (RFC 3464, and the older texts that servers still
// send), feedback reports (RFC 5965), receipts (RFC 8098), automatic replies (RFC 3834), challenges, and
// ordinary mail. It is tolerant: content types may be wrong, the report may be in the text, fields may be
// folded, in lower case or missing. Declared fields take precedence over text for people, and the text
// counts only if another sign shows that a mail system wrote it: a forwarded bounce is not a bounce.
//
// A report proves nothing, because it can be forged. So the return path decides which message it is about
// (runtime/mail/returnpath). Addresses found here only identify one of several recipients, and the name that
// the other system used for it.
//
// The server that accepts the message should add the Return-Path field (RFC 5321, 4.4): the null path is
// one of the signs of a mail system.
//
// The message is parsed by package message with its limits (20 levels, 500 parts, 256 KB of header). Parse
// reads at most 2 MB of its files and 10 MB in total.
package dsn

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/mail/message"
)

// MessageKind is the kind of a message.
type MessageKind string

// The kinds. Delivery reports (Failed, Delayed, Delivered) have at least one recipient, whose address may
// be unknown.
const (
	Failed    MessageKind = "failed"     // at least one recipient will not get the message
	Delayed   MessageKind = "delayed"    // still being tried; nothing to do
	Delivered MessageKind = "delivered"  // delivered, or passed to a system that sends no reports
	Complaint MessageKind = "complaint"  // a feedback report, see Feedback
	Receipt   MessageKind = "receipt"    // a mail program reports how the message was processed
	AutoReply MessageKind = "auto_reply" // out of office and the like
	Challenge MessageKind = "challenge"  // the receiver asks the sender for a confirmation
	Ordinary  MessageKind = "ordinary"   // none of these
)

// Report is the result of Parse. All strings are valid UTF-8 on one line, and limited in length.
type Report struct {
	Kind       MessageKind
	Recipients []RecipientReport
	Feedback   *Feedback // Complaint only
	Original   Original  // empty when Ordinary

	ReportingMTA string // host name of the reporting system
	EnvelopeID   string // ENVID of the MAIL command (RFC 3461, 4.4)
	Structured   bool   // read from declared fields, not from a text for people
	Inferred     bool   `json:",omitempty"` // read from reply codes near addresses: counts only for a recipient that is named

	// AutoReply reports whether a program wrote the message, whatever its Kind. Replying to it
	// automatically could cause a loop (RFC 3834, 2).
	AutoReply bool
}

// Action is what happened to one recipient (RFC 3464, 2.3.3).
type Action string

// The actions.
const (
	ActionFailed    Action = "failed"
	ActionDelayed   Action = "delayed"
	ActionDelivered Action = "delivered"
	ActionRelayed   Action = "relayed"
	ActionExpanded  Action = "expanded"
)

// RecipientReport is the report about one recipient.
type RecipientReport struct {
	Address         string // as the reporting system knows it; may be empty
	OriginalAddress string // as the sender gave it, when the report says so
	Action          Action
	Status          string       // "5.1.1", or empty; that of the quoted reply, or else the declared one
	Code            int          // of the SMTP reply; 0: none was quoted
	Phase           bounce.Phase `json:",omitempty"` // of the transaction that failed, as far as the report names it
	Diagnostic      string       // the reply or the reason, on one line
	RemoteMTA       string       // the host that sent the reply
	WillRetryUntil  time.Time
}

// Original is what the report contains of the original message.
type Original struct {
	MessageID string // without angle brackets
	From      string // addr-spec
	To        []string
	Subject   string
	Headers   []message.Field // all returned fields, decoded
}

// Get returns the first value of a returned field.
func (o Original) Get(name string) string {
	for _, h := range o.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// The limits on what is read and kept.
const (
	maxTotal      = 10 << 20
	maxData       = 2 << 20
	maxText       = 256 << 10
	maxRecipients = 1000
	maxLine       = 1000 // bytes of a diagnostic or any other string
)

// Parse parses a message. The error is only ever that of the reader; the Report covers everything before
// it.
func Parse(r io.Reader) (Report, error) {
	var raw prefixWriter
	read, err := message.ReadFull(io.TeeReader(r, &raw),
		message.Bounds{Text: maxText, Contents: maxData, Total: maxTotal})
	if err != nil {
		err = fmt.Errorf("read report: %w", err)
	}
	return newExamination(read, string(raw)).classify(), err
}

// prefixWriter keeps the first bytes written to it.
type prefixWriter []byte

func (p *prefixWriter) Write(b []byte) (int, error) {
	if room := maxText - len(*p); room > 0 {
		*p = append(*p, b[:min(room, len(b))]...)
	}
	return len(b), nil
}

// reportParser is a message with the data that several decisions need.
type reportParser struct {
	message    *message.FullMessage
	parts      []part
	raw        string // the first bytes, for messages whose structure is broken
	reportType string // parameter of multipart/report, lower case
	subject    string // lower case, one space between words
	text       string // for people, without the returned message
	returned   string // what follows the text
	origin     origin
}

// part is a file of the message with the inspected beginning of its content.
type part struct {
	contentType string
	data        []byte
}

func newExamination(read *message.FullMessage, raw string) *reportParser {
	e := &reportParser{message: read, raw: raw, subject: squeezeSpace(read.Subject)}
	for i, file := range read.Files {
		e.parts = append(e.parts, part{file.ContentType, read.Contents[i]})
	}
	e.reportType = reportType(read.Get("Content-Type"))
	text := read.Text
	if strings.TrimSpace(text) == "" {
		text = message.TextOfHTML(read.HTML)
	}
	e.text, e.returned = cutReturned(strings.ReplaceAll(text, "\r\n", "\n"))
	e.origin = originOf(read, e.subject)
	return e
}

// classify decides, with the most reliable evidence first.
func (e *reportParser) classify() Report {
	r := Report{Original: e.readOriginal()}
	switch {
	case e.readFeedback(&r):
		r.Structured = true
	case e.origin.forwarded: // by a person, who may have changed it; complaints are often called so
		r.Kind, r.Original = Ordinary, Original{}
	case e.readReceipt(&r), e.deliveryStatus(&r):
		r.Structured = true
	case e.origin.isPersonal(): // its text may contain "could not be delivered"
		r.Kind = AutoReply
		if e.isChallenge() {
			r.Kind = Challenge
		}
	case e.embeddedStatus(&r), e.microsoftComplaint(&r):
		r.Structured = true
	case e.readQmail(&r), e.plainText(&r), e.inferRecipients(&r):
	case e.isChallenge():
		r.Kind = Challenge
	case (e.origin.replied || e.origin.null && e.origin.answers) && !e.origin.daemon:
		r.Kind = AutoReply
	default:
		r.Kind, r.Original = Ordinary, Original{}
	}
	r.AutoReply = r.Kind != Ordinary || e.origin.automatic
	return r
}

// kindOf returns the worst outcome of any recipient.
func kindOf(list []RecipientReport) MessageKind {
	kind := Delivered
	for _, r := range list {
		switch r.Action {
		case ActionFailed:
			return Failed
		case ActionDelayed:
			kind = Delayed
		}
	}
	return kind
}
