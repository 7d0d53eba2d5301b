package provider

import (
	"encoding/json"
	"errors"
	"mime"
	"net/url"
	"strings"
	"unicode"
)

// Receipt is what a provider tells later of a message.
type Receipt struct {
	Outcome    Outcome // Sent, Delivered, Failed; "": nothing that changes the message
	ProviderID string
	Code       string
	Reason     string
	OptedOut   bool
}

// Reply is what somebody wrote back.
type Reply struct {
	From string
	Text string
}

var errReport = errors.New("the body is neither a form nor a JSON object of texts")

// Fields reads the body of a request by a provider: a form, or a JSON object whose texts and
// numbers count.
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

// statuses are the words of Twilio, of SMPP (its message states) and of gateways that were built on it.
var statuses = map[string]Outcome{
	"sent": Sent, "accepted": Sent, "acceptd": Sent, "enroute": Sent,
	"delivered": Delivered, "delivrd": Delivered, "read": Delivered,
	"failed": Failed, "undelivered": Failed, "undeliv": Failed, "undeliverable": Failed, "rejected": Failed, "rejectd": Failed, "expired": Failed, "deleted": Failed,
}

// ReadReceipt reads the receipt of a gateway: status, and perhaps id, code and error.
func ReadReceipt(fields url.Values) Receipt {
	return receipt(fields.Get("status"), fields.Get("id"), fields.Get("code"), fields.Get("error"))
}

// ReadTwilioReceipt reads a status callback.
func ReadTwilioReceipt(fields url.Values) Receipt {
	r := receipt(fields.Get("MessageStatus"), fields.Get("MessageSid"), fields.Get("ErrorCode"), fields.Get("ErrorMessage"))
	r.OptedOut = r.Outcome == Failed && r.Code == "21610"
	return r
}

func receipt(status, id, code, reason string) Receipt {
	r := Receipt{Outcome: statuses[strings.ToLower(strings.TrimSpace(status))], ProviderID: storable(id)}
	if r.Outcome != Failed {
		return r
	}
	if r.Code = word(code); r.Code == "" {
		r.Code = "not_delivered"
	}
	if r.Reason = storable(reason); r.Reason == "" {
		r.Reason = "the provider says that it was not delivered"
	}
	return r
}

// word keeps what can be a code.
func word(text string) string {
	if len(text) > 40 || strings.ContainsFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	}) {
		return ""
	}
	return text
}

// ReadReply reads what somebody wrote back: from and text.
func ReadReply(fields url.Values) Reply { return Reply{fields.Get("from"), fields.Get("text")} }

// ReadTwilioReply reads an incoming message.
func ReadTwilioReply(fields url.Values) Reply { return Reply{fields.Get("From"), fields.Get("Body")} }

// Wish is what a reply asks for.
type Wish int

// The wishes.
const (
	NoWish Wish = iota
	Stop
	Start
)

var wishes = map[string]Wish{"STOP": Stop, "UNSUBSCRIBE": Stop, "END": Stop, "QUIT": Stop, "CANCEL": Stop, "START": Start}

// Wish tells whether the reply is one of the words that stop or start messages, in any case and
// with or without a full stop.
func (r Reply) Wish() Wish {
	return wishes[strings.ToUpper(strings.TrimFunc(r.Text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsPunct(c) }))]
}
