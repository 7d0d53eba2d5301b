package devinbox

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	inbox "github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/mail/message"
)

// messageJSON returns an email with its content to scripts.
func (p *pages) messageJSON(w http.ResponseWriter, r *http.Request) error {
	mail, err := p.loadMail(r)
	if err != nil {
		return err
	}
	return sendWhole(w, mail)
}

// findLatest returns the newest matching mail, with its content. It waits for one as long as the request specifies.
// Errors have the format of the API; an invalid query returns 422.
func (p *pages) findLatest(w http.ResponseWriter, r *http.Request) error {
	err := p.sendLatest(w, r)
	if err == nil || r.Context().Err() != nil {
		return nil //nolint:nilerr // the client has disconnected
	}
	f := fault.Classify(err)
	telemetry.SetError(r.Context(), f.Code, err)
	if f.Kind == fault.Internal {
		telemetry.LogFailure(r.Context(), p.log, "development inbox", telemetry.KeyError, err)
	}
	answer := problem.From(err, w.Header().Get(telemetry.RequestIDHeader))
	if f.Kind == fault.Invalid {
		answer.Status = http.StatusUnprocessableEntity
	}
	answer.Write(w)
	return nil
}

func (p *pages) sendLatest(w http.ResponseWriter, r *http.Request) error {
	wanted, err := wantedOf(r.URL.RawQuery)
	if err != nil {
		return err
	}
	mail, err := p.inbox.Latest(r.Context(), wanted)
	if err != nil {
		return err
	}
	return sendWhole(w, mail)
}

// wantedOf reads the parameters to, subject and wait of a query. The error is Invalid and lists every invalid
// parameter.
func wantedOf(query string) (inbox.LatestQuery, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return inbox.LatestQuery{}, fault.Invalidf("The query cannot be read").WithCause(err)
	}
	wrong := fault.Fields{}
	for name, given := range values {
		switch {
		case !slices.Contains([]string{"to", "subject", "wait"}, name):
			wrong.Add(strings.ToValidUTF8(name, "\uFFFD"), "is not a known query parameter")
		case len(given) > 1:
			wrong.Add(name, "cannot be given more than once")
		}
	}
	wanted := inbox.LatestQuery{To: api.QueryAddress(values.Get("to")), Subject: values.Get("subject")}
	if text := values.Get("wait"); text != "" {
		if wanted.Wait, err = time.ParseDuration(text); err != nil {
			wrong.Add("wait", "must be a duration such as 10s or 500ms")
		}
	}
	var invalid *fault.Error
	if errors.As(wanted.Validate(), &invalid) {
		for name, reason := range invalid.Fields {
			wrong.Add(name, "%s", reason)
		}
	}
	return wanted, wrong.Err()
}

// wholeJSON is the JSON of an email with its content.
type wholeJSON struct {
	mailJSON

	Headers     []headerJSON     `json:"headers"`
	HTML        string           `json:"html"`
	Text        string           `json:"text"`
	Attachments []attachmentJSON `json:"attachments"`
	Findings    []wire.Finding   `json:"findings"`
}

type headerJSON struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type attachmentJSON struct {
	Name        string `json:"name"`
	ContentType string `json:"content_type"`
	ContentID   string `json:"content_id"`
	Size        int64  `json:"size"`
	URL         string `json:"url"`
}

// sendWhole responds with {mail}.
func sendWhole(w http.ResponseWriter, mail *ent.CapturedMail) error {
	parsed, err := readMail(mail)
	if err != nil {
		return err
	}
	out := wholeJSON{newMailJSON(mail), []headerJSON{}, parsed.HTML, parsed.Text, []attachmentJSON{},
		findingsOf(mail, parsed)}
	for _, h := range parsed.Header {
		out.Headers = append(out.Headers, headerJSON{h.Name, h.Value})
	}
	for i, part := range parsed.Files {
		out.Attachments = append(out.Attachments,
			attachmentJSON{nameOf(part, i), part.ContentType, part.ContentID, part.Size,
				fmt.Sprintf("%s/files/%d", linkTo(mail.ID), i)})
	}
	return sendJSON(w, map[string]any{"mail": out})
}

// findingsOf returns the problems of a captured email. Its links may already be tracked ones.
func findingsOf(mail *ent.CapturedMail, parsed *message.FullMessage) []wire.Finding {
	domain := ""
	if from, err := address.Parse(mail.From); err == nil {
		domain = from.Domain
	}
	found, _ := lint.Inspect(lint.Mail{Subject: mail.Subject, HTML: parsed.HTML, Text: parsed.Text, Domain: domain,
		Header: mail.Raw, Recipients: len(mail.RcptTo), Tracked: true})
	return wire.Findings(found)
}
