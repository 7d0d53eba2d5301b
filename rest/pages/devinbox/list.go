package devinbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postrider/postrider/ent"
	inbox "github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
)

const (
	pageSize = 50
	maxPage  = 200
)

// kind is a kind of message: mail or text message.
type kind struct {
	Home  string
	Texts bool
}

// place is the position of a page in the list of one kind of messages.
type place struct {
	Kind   kind
	To     string
	Older  string // link to the next page, empty on the last
	Newest int64  // id, for the script that watches for more
	First  bool   // whether this is the first page
}

// placeOf returns the place of a page that shows the messages with the given ids, newest first.
func placeOf(k kind, path string, q inbox.MailQuery, ids []int64, more bool) place {
	out := place{Kind: k, To: q.To, First: q.Before == 0}
	if len(ids) > 0 {
		out.Newest = ids[0]
	}
	if more {
		next := url.Values{"before": {strconv.FormatInt(ids[len(ids)-1], 10)}}
		if q.To != "" {
			next.Set("to", q.To)
		}
		out.Older = path + "?" + next.Encode()
	}
	return out
}

type listPage struct {
	frame
	place

	Mails []mailLine
}

type mailLine struct {
	ID                int64
	Link              string
	From, To, Subject string
	Snippet           string
	Received, Ago     string
}

func (p *pages) list(w http.ResponseWriter, r *http.Request) error {
	q, found, more, err := findMessages(r, p.inbox.List)
	if err != nil {
		return err
	}
	ids, lines := make([]int64, len(found)), make([]mailLine, len(found))
	for i, m := range found {
		ids[i], lines[i] = m.ID, lineOf(m, time.Now())
	}
	return render(w, listTemplate, listPage{newFrame(""), placeOf(kind{Prefix, false}, Prefix, q, ids, more), lines})
}

// findMessages returns the requested messages. It reads one more than it returns, to find out whether there are more.
func findMessages[T any](r *http.Request,
	list func(context.Context, inbox.MailQuery) ([]T, error)) (q inbox.MailQuery, found []T, more bool, err error) {
	if q, err = queryOf(r.URL.Query()); err != nil {
		return q, nil, false, err
	}
	asked := q
	asked.Limit = min(q.Limit+1, maxPage)
	if found, err = list(r.Context(), asked); err != nil {
		return q, nil, false, err
	}
	if len(found) > q.Limit {
		return q, found[:q.Limit], true, nil
	}
	return q, found, false, nil
}

// queryOf reads the parameters to, before and limit.
func queryOf(values url.Values) (inbox.MailQuery, error) {
	q := inbox.MailQuery{To: api.QueryAddress(values.Get("to")), Limit: pageSize}
	wrong := fault.Fields{}
	for name := range values {
		if !slices.Contains([]string{"to", "before", "limit"}, name) {
			wrong.Add(name, "is not a known query parameter")
		}
	}
	if !utf8.ValidString(q.To) || strings.ContainsRune(q.To, 0) {
		wrong.Add("to", "must be text")
	}
	if text := values.Get("before"); text != "" {
		before, err := strconv.ParseInt(text, 10, 64)
		if err != nil || before < 1 {
			wrong.Add("before", "must be the id of a mail")
		}
		q.Before = before
	}
	if text := values.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 || limit >= maxPage {
			wrong.Add("limit", "must be between 1 and %d", maxPage-1)
		}
		q.Limit = limit
	}
	return q, wrong.Err()
}

func lineOf(m inbox.Line, now time.Time) mailLine {
	return mailLine{ID: m.ID, Link: linkTo(m.ID), From: orElse(m.From, m.MailFrom), To: shortList(m.RcptTo),
		Subject: orElse(m.Subject, "(no subject)"),
		Snippet: m.Snippet, Received: m.ReceivedAt.UTC().Format(time.RFC3339), Ago: formatAge(now.Sub(m.ReceivedAt))}
}

func linkTo(id int64) string { return Prefix + "/" + strconv.FormatInt(id, 10) }

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func shortList(to []string) string {
	switch len(to) {
	case 0:
		return "(nobody)"
	case 1:
		return to[0]
	default:
		return fmt.Sprintf("%s and %d more", to[0], len(to)-1)
	}
}

func formatAge(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d d", int(d.Hours()/24))
	}
}

// mailJSON is the JSON of an email.
type mailJSON struct {
	ID         int64     `json:"id"`
	ReceivedAt time.Time `json:"received_at"`
	MailFrom   string    `json:"mail_from"`
	RcptTo     []string  `json:"rcpt_to"`
	From       string    `json:"from"`
	Subject    string    `json:"subject"`
	MessageID  string    `json:"message_id"`
	Size       int       `json:"size"`
	URL        string    `json:"url"`
	SourceURL  string    `json:"source_url"`
}

// lineJSON is the JSON of an email in a list.
type lineJSON struct {
	mailJSON

	Snippet string `json:"snippet"`
}

func newMailJSON(m *ent.CapturedMail) mailJSON {
	to := m.RcptTo
	if to == nil {
		to = []string{}
	}
	return mailJSON{ID: m.ID, ReceivedAt: m.ReceivedAt.UTC(), MailFrom: m.MailFrom, RcptTo: to, From: m.From,
		Subject:   m.Subject,
		MessageID: m.MessageID, Size: m.Size, URL: linkTo(m.ID), SourceURL: linkTo(m.ID) + "/source"}
}

// listJSON responds with {mails, has_more}, newest first.
func (p *pages) listJSON(w http.ResponseWriter, r *http.Request) error {
	_, found, more, err := findMessages(r, p.inbox.List)
	if err != nil {
		return err
	}
	out := struct {
		Mails   []lineJSON `json:"mails"`
		HasMore bool       `json:"has_more"`
	}{[]lineJSON{}, more}
	for _, m := range found {
		out.Mails = append(out.Mails, lineJSON{newMailJSON(m.CapturedMail), m.Snippet})
	}
	return sendJSON(w, out)
}
