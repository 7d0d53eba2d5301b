package statistics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// incoming is a received email in the test's model.
type incoming struct {
	account, id, domain, spam string
	size                      int64
	at                        time.Time
}

// comes stores a message as received.
func (tr *traffic) comes(at time.Time) incoming {
	tr.t.Helper()
	in := incoming{account: tr.account[tr.dice.IntN(2)], id: id.New(id.ReceivedEmail),
		domain: tr.pick("dom_a", "dom_b", "dom_c"), spam: tr.pick("ham", "spam", "unknown"),
		size: 1 + tr.dice.Int64N(5000), at: at.Truncate(time.Microsecond)}
	tr.exec(`WITH c AS (INSERT INTO received_contents (account_id, size, created_at) VALUES ($2, $5, $6) RETURNING id)
		INSERT INTO received_emails (id, account_id, domain_id, content_id, rcpt_to, mail_from, "from", from_address, "to", cc, reply_to, subject, message_id, "references", authentication,
			spam_status, size, attachments, defects, remote_ip, helo, tls, received_at)
		SELECT $1, $2, $3, c.id, 'a@a.example', '', '', '', '[]', '[]', '[]', '', '', '[]', '{}', $4, $5, '[]', '[]', '127.0.0.1', '', '', $6 FROM c`,
		in.id, in.account, in.domain, in.spam, in.size, in.at)
	th := thing{kind: "email.received", at: in.at, mail: &mail{account: in.account, id: in.id}}
	tr.happens(th, map[string]any{})
	tr.things = tr.things[:len(tr.things)-1] // not a result of sent mail
	return in
}

// countedReceived computes the figures by period and group from the individual messages.
func countedReceived(all []incoming, account string, by Dimension, starts []time.Time,
	end time.Time) map[string]ReceivedFigures {
	out := map[string]ReceivedFigures{}
	for _, in := range all {
		if in.account != account || in.at.Before(starts[0]) || !in.at.Before(end) {
			continue
		}
		i := len(starts) - 1
		for in.at.Before(starts[i]) {
			i--
		}
		place := starts[i].Format(time.RFC3339) + " " +
			map[Dimension]string{ByDomain: in.domain, BySpamStatus: in.spam}[by]
		f := out[place]
		f.Received++
		f.Octets += in.size
		switch in.spam {
		case "ham":
			f.Ham++
		case "spam":
			f.Spam++
		default:
			f.Unknown++
		}
		out[place] = f
	}
	return out
}

func toldReceived(a ReceivedAnswer, grouped bool) (told map[string]ReceivedFigures, sum ReceivedFigures) {
	told = map[string]ReceivedFigures{}
	for _, b := range a.Buckets {
		sum.Add(b.Figures)
		if !grouped && b.Figures != (ReceivedFigures{}) {
			told[b.Start.Format(time.RFC3339)+" "] = b.Figures
		}
	}
	for _, g := range a.Groups {
		for _, b := range g.Buckets {
			if b.Figures != (ReceivedFigures{}) {
				told[b.Start.Format(time.RFC3339)+" "+g.Key] = b.Figures
			}
		}
	}
	return told, sum
}

// Every answer about received mail equals a count of the individual messages: before counting, halfway, after
// counting, after deleting half of the mail, and after a rebuild.
func TestReceivedMailIsCounted(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 21)
	start := time.Date(2026, 10, 31, 20, 0, 0, 0, time.UTC) // clocks change in St. John's
	var all []incoming
	for range 300 {
		all = append(all, tr.comes(start.Add(time.Duration(tr.dice.Int64N(int64(48*time.Hour))))))
		if tr.dice.IntN(30) == 0 {
			tr.sends(start.Add(time.Duration(tr.dice.IntN(24*3600)) * time.Second)) // an unrelated fact
		}
	}
	compare := func(what string) {
		t.Helper()
		for range 30 {
			since := start.Add(time.Duration(tr.dice.IntN(30)) * time.Hour)
			q := ReceivedQuestion{Range: between(since, since.Add(time.Duration(1+tr.dice.IntN(40))*time.Hour)),
				Interval: []Interval{Hour, Day, Week, Month}[tr.dice.IntN(4)],
				Timezone: tr.pick("UTC", "America/St_Johns", "Asia/Kathmandu", "Europe/Vienna"),
				GroupBy:  []Dimension{"", ByDomain, BySpamStatus}[tr.dice.IntN(3)], Top: 3}
			account := tr.account[tr.dice.IntN(2)]
			a, err := tr.AskReceived(t.Context(), account, q)
			if err != nil {
				t.Fatalf("%s: the question %+v returned the error %v", what, q, err)
			}
			var starts []time.Time
			for _, b := range a.Buckets {
				starts = append(starts, b.Start)
			}
			if starts[0].After(q.Range.Since) {
				t.Fatalf("%s: %+v: the first period begins at %v", what, q, starts[0])
			}
			end := Question{Range: q.Range, Interval: q.Interval, Timezone: q.Timezone}
			axis, _, err := end.plan()
			if err != nil || !slices.Equal(axis.Starts, starts) {
				t.Fatalf("%s: %+v: the periods are %v, %v, want those of sent mail", what, q, starts, err)
			}
			told, sum := toldReceived(a, q.GroupBy != "")
			if diff := cmp.Diff(countedReceived(all, account, q.GroupBy, starts, axis.End), told); diff != "" ||
				sum != a.Totals || a.Other != nil {
				t.Fatalf("%s: %+v: totals %+v, sum %+v, rest %v; expected (-) and actual (+):\n%s", what, q,
					a.Totals, sum, a.Other, diff)
			}
		}
	}
	count := func(at time.Time) {
		t.Helper()
		tr.horizon.at = at
		for range 2 {
			if err := tr.Count(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	compare("nothing is counted yet")
	count(start.Add(20 * time.Hour))
	compare("half counted")
	for _, account := range tr.account {
		var gone []string
		for _, in := range all {
			if in.account == account && tr.dice.IntN(2) == 0 {
				gone = append(gone, in.id)
			}
		}
		tx, err := tr.db.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Keep(t.Context(), tx, account, gone...); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{`DELETE FROM received_emails WHERE id = ANY($1)`, `DELETE FROM facts WHERE subject_id = ANY($1)`} {
			if _, err := tx.ExecContext(t.Context(), statement, db.Array(gone)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	compare("half of it deleted")
	count(start.AddDate(0, 0, 9))
	compare("counted")
	if err := tr.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	compare("rebuilt")
}

// The largest groups are listed by name, the rest together.
func TestReceivedMailIsGrouped(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 22)
	tr.account[1] = tr.account[0]
	at := time.Date(2026, 11, 3, 10, 20, 0, 0, time.UTC)
	byDomain := map[string]ReceivedFigures{}
	for range 60 {
		in := tr.comes(at)
		byDomain[in.domain] = ReceivedFigures{Received: byDomain[in.domain].Received + 1,
			Octets: byDomain[in.domain].Octets + in.size}
	}
	tr.exec(`INSERT INTO domains (id, account_id, name, status, ownership_token, created_at, updated_at) VALUES ('dom_a', $1, 'a.example', 'verified', 'x', now(), now())`, tr.account[0])
	a, err := tr.AskReceived(t.Context(), tr.account[0],
		ReceivedQuestion{Range: between(at, at.Add(time.Hour)), Interval: Hour, Timezone: "UTC", GroupBy: ByDomain,
			Top: 2})
	if err != nil || len(a.Groups) != 2 || a.Other == nil || len(a.Buckets) != 2 || a.Totals.Received != 60 {
		t.Fatalf("with the top two domains, the answer is %+v, %v; want 2 groups, the rest, 2 hours and 60 messages", a,
			err)
	}
	rest := a.Totals.Received
	for _, g := range a.Groups {
		label := g.Key
		if label == "dom_a" {
			label = "a.example"
		}
		if g.Totals.Received != byDomain[g.Key].Received || g.Totals.Octets != byDomain[g.Key].Octets ||
			g.Label != label || len(g.Buckets) != 2 {
			t.Errorf("got the group %+v, want %+v", g, byDomain[g.Key])
		}
		rest -= g.Totals.Received
	}
	if a.Other.Totals.Received != rest || rest == 0 || a.Groups[0].Totals.Received < a.Groups[1].Totals.Received {
		t.Errorf("the rest is %+v, want %d", a.Other.Totals, rest)
	}
}

func TestReceivedQuestionReportsInvalidFields(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 23)
	day := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	for field, change := range map[string]func(*ReceivedQuestion){
		"range":    func(q *ReceivedQuestion) { q.Range = between(day, day) },
		"range ":   func(q *ReceivedQuestion) { q.Range, q.Interval = between(day.AddDate(-2, 0, 0), day), Hour },
		"timezone": func(q *ReceivedQuestion) { q.Timezone = "Mars/Olympus" },
		"interval": func(q *ReceivedQuestion) { q.Interval = "" },
		"groupBy":  func(q *ReceivedQuestion) { q.GroupBy = ByTag },
		"top":      func(q *ReceivedQuestion) { q.GroupBy, q.Top = ByDomain, 101 },
	} {
		q := ReceivedQuestion{Range: between(day.AddDate(0, 0, -2), day), Interval: Day, Timezone: "UTC"}
		change(&q)
		if _, err := tr.AskReceived(t.Context(), tr.account[0], q); fault.Classify(err).
			Fields[strings.TrimSpace(field)] == "" {
			t.Errorf("an invalid %s returned %v, want an error for this field", field, err)
		}
	}
}
