package devhooks

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/devinbox/hooks"
	"github.com/postrider/postrider/runtime/base/fault"
)

type shown struct {
	URL          string    `json:"url"`
	AnswerStatus int       `json:"answer_status"`
	Requests     []request `json:"requests"`
	HasMore      bool      `json:"has_more"`
}

type request struct {
	Number         int64     `json:"number"`
	ReceivedAt     time.Time `json:"received_at"`
	EventID        string    `json:"event_id"`
	EventType      string    `json:"event_type"`
	Attempt        int       `json:"attempt"`
	Verified       bool      `json:"verified"`        // whether a secret of the account's endpoint signed it
	SignatureError string    `json:"signature_error"` // why the signature is invalid; empty if it is valid
	WebhookID      *string   `json:"webhook_id"`
	AnswerStatus   int       `json:"answer_status"`
	Headers        []header  `json:"headers"`
	Body           string    `json:"body"`
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (e *edge) list(w http.ResponseWriter, r *http.Request, accountID string) error {
	query, err := queryOf(r.URL.RawQuery)
	if err != nil {
		return err
	}
	found, err := e.receivers.List(r.Context(), accountID, query)
	if err != nil {
		return err
	}
	out := shown{URL: found.URL, AnswerStatus: found.Answer, HasMore: found.HasMore, Requests: []request{}}
	for _, one := range found.Requests {
		out.Requests = append(out.Requests, newRequest(one))
	}
	return sendJSON(w, out)
}

func newRequest(r *hooks.CapturedRequest) request {
	out := request{Number: r.Number, ReceivedAt: r.ReceivedAt.UTC().Truncate(time.Millisecond), EventID: r.EventID,
		EventType: r.EventType, Attempt: r.Attempt,
		Verified: r.Unsigned == "", SignatureError: r.Unsigned, AnswerStatus: r.Status, Headers: []header{},
		Body: strings.ToValidUTF8(string(r.Body), "\uFFFD")}
	if r.WebhookID != "" {
		out.WebhookID = &r.WebhookID
	}
	for _, f := range r.Header {
		out.Headers = append(out.Headers, header(f))
	}
	return out
}

// queryOf reads the parameters after, type, limit and wait of a query. The error is Invalid and lists every invalid
// parameter.
func queryOf(text string) (q hooks.RequestQuery, err error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return q, fault.Invalidf("The query cannot be read").WithCause(err)
	}
	wrong := fault.Fields{}
	for name, given := range values {
		switch {
		case !slices.Contains([]string{"after", "type", "limit", "wait"}, name):
			wrong.Add(strings.ToValidUTF8(name, "\uFFFD"), "is not a known query parameter")
		case len(given) > 1:
			wrong.Add(name, "cannot be given more than once")
		}
	}
	q.Type = values.Get("type")
	if given := values.Get("after"); given != "" {
		if q.After, err = strconv.ParseInt(given, 10, 64); err != nil {
			wrong.Add("after", "must be the number of a request, or 0")
		}
	}
	if given := values.Get("limit"); given != "" {
		if q.Limit, err = strconv.Atoi(given); err != nil || q.Limit < 1 {
			wrong.Add("limit", "must be between 1 and %d", hooks.MaxLimit)
		}
	}
	if given := values.Get("wait"); given != "" {
		if q.Wait, err = time.ParseDuration(given); err != nil {
			wrong.Add("wait", "must be a duration such as 10s")
		}
	}
	return q, wrong.Err()
}
