package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/postrider/postrider/runtime/base/secret"
)

// TwilioURL is the base URL of Twilio's API.
const TwilioURL = "https://api.twilio.com"

// Twilio implements version 2010-04-01 of Twilio's REST API. It posts a form to Messages.json.
type Twilio struct {
	BaseURL    string // URL of a compatible API; empty: TwilioURL
	AccountSID string
	AuthToken  secret.String
	From       string // for messages without a sender
	Client     *http.Client
}

// Name implements Provider.
func (*Twilio) Name() string { return "twilio" }

// IsIdempotent implements Provider. The API has no idempotency keys.
func (*Twilio) IsIdempotent() bool { return false }

// optedOut is Twilio's error code for a number that replied STOP.
const optedOut = 21610

// Submit implements Provider.
func (t *Twilio) Submit(ctx context.Context, m Message) SendResult {
	from := m.From
	if from == "" {
		from = t.From
	}
	form := url.Values{"To": {m.To}, "Body": {m.Text}, "StatusCallback": {m.ReceiptURL}}
	if strings.HasPrefix(from, "MG") && len(from) == 34 {
		form.Set("MessagingServiceSid", from)
	} else {
		form.Set("From", from)
	}
	base := t.BaseURL
	if base == "" {
		base = TwilioURL
	}
	target := strings.TrimSuffix(base, "/") + "/2010-04-01/Accounts/" + url.PathEscape(t.AccountSID) + "/Messages.json"
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	header.Set("Authorization", Basic(t.AccountSID, t.AuthToken.Reveal()))
	x := doRequest(ctx, t.Client, http.MethodPost, target, form.Encode(), header)
	return t.readResponse(x)
}

// twilioMessage is a message or an error as the API returns it.
type twilioMessage struct {
	SID          string `json:"sid"`
	Status       any    `json:"status"` // a string in a message, a number in an error
	ErrorCode    *int   `json:"error_code"`
	ErrorMessage string `json:"error_message"`
	Code         int    `json:"code"` // in an error
	Message      string `json:"message"`
}

func (t *Twilio) readResponse(x exchange) SendResult {
	a := x.answerOf()
	var said twilioMessage
	if err := json.Unmarshal(x.body, &said); err != nil {
		return a // the status is sufficient
	}
	switch a.Outcome {
	case Sent:
		a.ProviderID = sanitizeText(said.SID)
		if said.ErrorCode != nil && (said.Status == "failed" || said.Status == "undelivered") {
			a.Outcome, a.Code, a.Reason = Failed, strconv.Itoa(*said.ErrorCode), sanitizeText(said.ErrorMessage)
			a.OptedOut = *said.ErrorCode == optedOut
		}
	case Failed:
		if said.Code != 0 {
			a.Code, a.Reason = strconv.Itoa(said.Code), sanitizeText(fmt.Sprintf("the provider refused the message: %s",
				said.Message))
			a.OptedOut = said.Code == optedOut
		}
	}
	return a
}
