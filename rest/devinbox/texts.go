package devinbox

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/postrider/postrider/ent"
	inbox "github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/sms/segment"
)

type textsPage struct {
	frame

	Kind     kind
	Messages []textLine
	To       string
	Older    string // link to the next page, empty on the last
	Newest   int64  // id, for the script that watches for more
	First    bool   // nothing newer is left out
}

type textLine struct {
	MessageID, To, From string
	Parts               []string // as the network carries them
	Alphabet, Count     string   // in words
	Size                int
	Received, Ago       string
}

func (p *pages) texts(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r.URL.Query())
	if err != nil {
		return err
	}
	found, more, err := p.findTexts(r, q)
	if err != nil {
		return err
	}
	page := textsPage{frame: newFrame("Text messages"), Kind: kind{Prefix, true}, To: q.To, First: q.Before == 0}
	for _, m := range found {
		page.Messages = append(page.Messages, textLineOf(m, time.Now()))
	}
	if len(found) > 0 {
		page.Newest = found[0].ID
	}
	if more {
		next := url.Values{"before": {strconv.FormatInt(found[len(found)-1].ID, 10)}}
		if q.To != "" {
			next.Set("to", q.To)
		}
		page.Older = TextsPath + "?" + next.Encode()
	}
	return render(w, textsTemplate, page)
}

// findTexts asks for one more than it gives, to know whether there are more.
func (p *pages) findTexts(r *http.Request, q inbox.Query) (found []*ent.CapturedSMS, more bool, err error) {
	limit := q.Limit
	q.Limit = min(limit+1, maxPage)
	found, err = p.inbox.Texts(r.Context(), q)
	if err != nil {
		return nil, false, err
	}
	if len(found) > limit {
		return found[:limit], true, nil
	}
	return found, false, nil
}

func textLineOf(m *ent.CapturedSMS, now time.Time) textLine {
	_, parts := segment.Split(m.Text)
	out := textLine{MessageID: m.MessageID, To: m.To, From: m.From, Parts: parts, Alphabet: "GSM 7-bit", Count: "1 segment", Size: utf8.RuneCountInString(m.Text),
		Received: m.ReceivedAt.UTC().Format(time.RFC3339), Ago: ago(now.Sub(m.ReceivedAt))}
	if m.Encoding == string(segment.UCS2) {
		out.Alphabet = "UCS-2"
	}
	if m.Segments != 1 {
		out.Count = fmt.Sprintf("%d segments", m.Segments)
	}
	return out
}

// textJSON is a text message as scripts see it.
type textJSON struct {
	ID         int64     `json:"id"`
	ReceivedAt time.Time `json:"received_at"`
	MessageID  string    `json:"message_id"`
	To         string    `json:"to"`
	From       string    `json:"from"`
	Text       string    `json:"text"`
	Encoding   string    `json:"encoding"`
	Segments   int       `json:"segments"`
}

// textsJSON answers {texts, has_more}, newest first.
func (p *pages) textsJSON(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r.URL.Query())
	if err != nil {
		return err
	}
	found, more, err := p.findTexts(r, q)
	if err != nil {
		return err
	}
	out := struct {
		Texts   []textJSON `json:"texts"`
		HasMore bool       `json:"has_more"`
	}{[]textJSON{}, more}
	for _, m := range found {
		out.Texts = append(out.Texts, textJSON{m.ID, m.ReceivedAt.UTC(), m.MessageID, m.To, m.From, m.Text, m.Encoding, m.Segments})
	}
	return sendJSON(w, out)
}
