package devinbox

import (
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sms/textmsg"
)

type textsPage struct {
	frame
	place

	Messages []textLine
}

type textLine struct {
	MessageID, To, From string
	Parts               []string // the segments
	Alphabet, Count     string   // in words
	Size                int
	Received, Ago       string
}

func (p *pages) listTexts(w http.ResponseWriter, r *http.Request) error {
	q, found, more, err := findMessages(r, p.inbox.Texts)
	if err != nil {
		return err
	}
	ids, lines := make([]int64, len(found)), make([]textLine, len(found))
	for i, m := range found {
		ids[i], lines[i] = m.ID, textLineOf(m, time.Now())
	}
	return render(w, textsTemplate,
		textsPage{newFrame("Text messages"), placeOf(kind{Prefix, true}, TextsPath, q, ids, more), lines})
}

func textLineOf(m *ent.CapturedSMS, now time.Time) textLine {
	_, parts := textmsg.Split(m.Text)
	out := textLine{MessageID: m.MessageID, To: m.To, From: m.From, Parts: parts, Alphabet: "GSM 7-bit",
		Count: "1 segment", Size: utf8.RuneCountInString(m.Text),
		Received: m.ReceivedAt.UTC().Format(time.RFC3339), Ago: formatAge(now.Sub(m.ReceivedAt))}
	if m.Encoding == string(textmsg.UCS2) {
		out.Alphabet = "UCS-2"
	}
	if m.Segments != 1 {
		out.Count = fmt.Sprintf("%d segments", m.Segments)
	}
	return out
}

// textJSON is the JSON of a text message.
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

// textsJSON responds with {texts, has_more}, newest first.
func (p *pages) textsJSON(w http.ResponseWriter, r *http.Request) error {
	_, found, more, err := findMessages(r, p.inbox.Texts)
	if err != nil {
		return err
	}
	out := struct {
		Texts   []textJSON `json:"texts"`
		HasMore bool       `json:"has_more"`
	}{[]textJSON{}, more}
	for _, m := range found {
		out.Texts = append(out.Texts, textJSON{m.ID, m.ReceivedAt.UTC(), m.MessageID, m.To, m.From, m.Text, m.Encoding,
			m.Segments})
	}
	return sendJSON(w, out)
}
