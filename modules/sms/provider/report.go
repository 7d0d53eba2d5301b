package provider

import (
	"encoding/json"
	"errors"
	"mime"
	"net/url"
	"strings"
	"unicode"
)

// DeliveryReport is a provider's report about an earlier message.
type DeliveryReport struct {
	Outcome    Outcome // Sent, Delivered or Failed; empty if the message does not change
	ProviderID string
	Code       string
	Reason     string
	OptedOut   bool
}

// IncomingText is a reply from a recipient.
type IncomingText struct {
	From string
	Text string
}

var errReport = errors.New("the body must be a form or a JSON object of strings")

// Fields parses the body of a callback: a form or a JSON object. Of an object, only strings and numbers are
// used.
func Fields(contentType string, body []byte) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = Form
	}
	if kind != JSON {
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, errReport
		}
		return values, nil
	}
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil || object == nil {
		return nil, errReport
	}
	values := url.Values{}
	for name, value := range object {
		switch v := value.(type) {
		case string:
			values.Set(name, v)
		case json.Number:
			values.Set(name, v.String())
		}
	}
	return values, nil
}

// statuses maps the statuses of Twilio, of SMPP (its message states) and of gateways that use the same words.
var statuses = map[string]Outcome{
	"sent": Sent, "accepted": Sent, "acceptd": Sent, "enroute": Sent,
	"delivered": Delivered, "delivrd": Delivered, "read": Delivered,
	"failed": Failed, "undelivered": Failed, "undeliv": Failed, "undeliverable": Failed, "rejected": Failed,
	"rejectd": Failed, "expired": Failed, "deleted": Failed,
}

// ReadReceipt parses the receipt of a gateway: status, and optionally id, code and error.
func ReadReceipt(fields url.Values) DeliveryReport {
	return newReceipt(fields.Get("status"), fields.Get("id"), fields.Get("code"), fields.Get("error"))
}

// ReadTwilioReceipt parses a status callback.
func ReadTwilioReceipt(fields url.Values) DeliveryReport {
	r := newReceipt(fields.Get("MessageStatus"), fields.Get("MessageSid"), fields.Get("ErrorCode"),
		fields.Get("ErrorMessage"))
	r.OptedOut = r.Outcome == Failed && r.Code == "21610"
	return r
}

func newReceipt(status, id, code, reason string) DeliveryReport {
	r := DeliveryReport{Outcome: statuses[strings.ToLower(strings.TrimSpace(status))], ProviderID: sanitizeText(id)}
	if r.Outcome != Failed {
		return r
	}
	if r.Code = sanitizeCode(code); r.Code == "" {
		r.Code = "not_delivered"
	}
	if r.Reason = sanitizeText(reason); r.Reason == "" {
		r.Reason = "the provider reports that the message was not delivered"
	}
	return r
}

// sanitizeCode removes all characters that a code cannot contain.
func sanitizeCode(text string) string {
	if len(text) > 40 || strings.ContainsFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	}) {
		return ""
	}
	return text
}

// ReadReply parses a reply: from and text.
func ReadReply(fields url.Values) IncomingText {
	return IncomingText{fields.Get("from"), fields.Get("text")}
}

// ReadTwilioReply parses an incoming message.
func ReadTwilioReply(fields url.Values) IncomingText {
	return IncomingText{fields.Get("From"), fields.Get("Body")}
}

// Command is the request that a reply expresses.
type Command int

// The commands.
const (
	NoCommand Command = iota
	Stop
	Start
)

var commands = map[string]Command{"STOP": Stop, "UNSUBSCRIBE": Stop, "END": Stop, "QUIT": Stop, "CANCEL": Stop,
	"START": Start}

// Command returns the request in the reply, which must be one of the keywords that stop or start messages, in any
// case and with or without a full stop.
func (r IncomingText) Command() Command {
	return commands[strings.ToUpper(strings.TrimFunc(r.Text,
		func(c rune) bool { return unicode.IsSpace(c) || unicode.IsPunct(c) }))]
}
