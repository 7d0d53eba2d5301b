package statistics

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

func between(since, until time.Time) Range { return Range{Since: since, Until: until} }

// horizon is a horizon that the test sets.
type horizon struct{ at time.Time }

func (h *horizon) Horizon(context.Context) (time.Time, error) { return h.at, nil }

// thing is a fact in the test's model, with the email that it is about.
type thing struct {
	kind      string
	at        time.Time
	recipient string
	machine   bool
	class     string
	*mail
}

type mail struct {
	account, id, domain, key, template, automation string
	sent                                           time.Time
	tags                                           []string
	to                                             []string
}

// traffic stores mail and its results in the tables.
type traffic struct {
	*Service

	t       *testing.T
	db      *db.DB
	horizon *horizon
	dice    *rand.Rand
	things  []thing
	facts   int
	account [2]string
}

func newTraffic(t *testing.T, seed uint64) *traffic {
	t.Helper()
	d, h := dbtest.New(t), &horizon{}
	tr := &traffic{Service: New(Params{DB: d, Facts: h, Logger: slog.New(slog.DiscardHandler)}), t: t, db: d,
		horizon: h, dice: rand.New(rand.NewPCG(seed, 1))}
	a, err := accounts.New(accounts.Params{DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.account {
		made, err := a.CreateAccount(t.Context(),
			accounts.NewAccount{Name: "Acme", Email: "ada@example.com", Plan: "scale"})
		if err != nil {
			t.Fatal(err)
		}
		tr.account[i] = made.ID
	}
	return tr
}

func (tr *traffic) exec(statement string, args ...any) {
	tr.t.Helper()
	if _, err := tr.db.SQL.ExecContext(tr.t.Context(), statement, args...); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *traffic) pick(of ...string) string { return of[tr.dice.IntN(len(of))] }

// happens stores a fact.
func (tr *traffic) happens(th thing, data map[string]any) {
	tr.t.Helper()
	tr.facts++
	if th.recipient != "" {
		data["recipient"] = th.recipient
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		tr.t.Fatal(err)
	}
	least := id.Since(id.Fact, th.at)
	tr.exec(`INSERT INTO facts (id, account_id, type, subject_id, data, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		least[:len(least)-12]+fmt.Sprintf("%012d", tr.facts), th.account, th.kind, th.id, encoded, th.at)
	tr.things = append(tr.things, th)
}

// sends stores an email that is handed over, and results for up to three days.
func (tr *traffic) sends(at time.Time) {
	tr.t.Helper()
	n := tr.facts
	m := &mail{account: tr.account[tr.dice.IntN(2)], id: id.New(id.Email), domain: tr.pick("dom_a", "dom_b"),
		key: tr.pick("", "key_a", "key_b"), template: tr.pick("", "tpl_a"),
		automation: tr.pick("", "", "aut_a"), sent: at}
	for _, tag := range []string{"env=prod", "env=test", "kind=receipt"} {
		if tr.dice.IntN(3) == 0 {
			m.tags = append(m.tags, tag)
		}
	}
	for i := range 1 + tr.dice.IntN(3) {
		m.to = append(m.to, fmt.Sprintf("r%d-%d@%s", n, i, tr.pick("a.example", "b.example")))
	}
	tags := []map[string]string{}
	for _, tag := range m.tags {
		name, value, _ := strings.Cut(tag, "=")
		tags = append(tags, map[string]string{"name": name, "value": value})
	}
	encoded, err := json.Marshal(tags)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.exec(`INSERT INTO emails (id, account_id, domain_id, api_key_id, template_id, automation_id, "from", from_address, "to", subject, tags, message_id, attachment_count, unsubscribe, status, last_event, created_at, sent_at)
		VALUES ($1, $2, $3, nullif($4, ''), nullif($5, ''), nullif($6, ''), 'a@a.example', 'a@a.example', '[]', 's', $7, $1, 0, false, 'sent', 'email.sent', $8, $8)`,
		m.id, m.account, m.domain, m.key, m.template, m.automation, encoded, at)
	tr.happens(thing{kind: "email.sent", at: at, mail: m}, map[string]any{})
	for _, to := range m.to {
		_, domain, _ := strings.Cut(to, "@")
		tr.exec(`INSERT INTO recipients (email_id, account_id, kind, address, destination, state, created_at) VALUES ($1, $2, 'to', $3, $4, 'delivered', $5)`, m.id, m.account, to, domain, at)
		after := func(most time.Duration) time.Time {
			return at.Add(time.Duration(tr.dice.Int64N(int64(most)))).Truncate(time.Millisecond)
		}
		for range tr.dice.IntN(3) {
			tr.happens(thing{kind: "email.delivery_delayed", at: after(time.Hour), recipient: to, mail: m},
				map[string]any{})
		}
		switch tr.dice.IntN(4) {
		case 0:
			class := tr.pick("bad_address", "mailbox_full")
			tr.exec(`INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, class) SELECT id, email_id, account_id, 1, 1, now(), $2 FROM recipients WHERE address = $1`, to, class)
			tr.happens(thing{kind: "email.bounced", at: after(72 * time.Hour), recipient: to, class: class, mail: m},
				map[string]any{"bounce": map[string]any{"enhanced_code": "5.1.1", "remote_mta": "mx." + domain,
					"diagnostic": "no " + to}})
		case 1:
			tr.happens(thing{kind: "email.failed", at: after(time.Hour), recipient: to, class: "unknown", mail: m},
				map[string]any{})
		default:
			tr.happens(thing{kind: "email.delivered", at: after(time.Hour), recipient: to, mail: m}, map[string]any{})
		}
		if tr.dice.IntN(9) == 0 {
			tr.happens(thing{kind: "email.complained", at: after(72 * time.Hour), recipient: to, mail: m},
				map[string]any{})
		}
		if tr.dice.IntN(9) == 0 {
			tr.happens(thing{kind: "contact.unsubscribed", at: after(72 * time.Hour), recipient: to, mail: m},
				map[string]any{"email": to})
		}
	}
	for range tr.dice.IntN(4) {
		machine := tr.dice.IntN(2) == 0
		tr.happens(thing{kind: "email.opened", at: at.Add(time.Duration(tr.dice.IntN(72*3600)) * time.Second),
			machine: machine, mail: m}, map[string]any{"open": map[string]any{"machine": machine}})
	}
	for range tr.dice.IntN(3) {
		tr.happens(thing{kind: "email.clicked", at: at.Add(time.Duration(tr.dice.IntN(72*3600)) * time.Second),
			mail: m}, map[string]any{"click": map[string]any{"machine": false}})
	}
}

// domain returns the domain of a result as it appears in an answer.
func (th thing) domain() string {
	if th.recipient != "" {
		_, domain, _ := strings.Cut(th.recipient, "@")
		return domain
	}
	domains := map[string]bool{}
	for _, to := range th.to {
		_, domain, _ := strings.Cut(to, "@")
		domains[domain] = true
	}
	if len(domains) == 1 {
		return slices.Collect(maps.Keys(domains))[0]
	}
	return ""
}

// keys returns the groups of a dimension to which a thing belongs, with the number of recipients of a sent
// email.
func (th thing) keys(by Dimension) map[string]int64 {
	all := int64(len(th.to))
	switch by {
	case ByDomain:
		return map[string]int64{th.mail.domain: all}
	case ByAPIKey:
		return map[string]int64{th.key: all}
	case ByTemplate:
		return map[string]int64{th.template: all}
	case ByAutomation:
		return map[string]int64{th.automation: all}
	case ByTag:
		out := map[string]int64{}
		for _, tag := range th.tags {
			out[tag] = all
		}
		return out
	case ByRecipientDomain:
		if th.kind != "email.sent" {
			return map[string]int64{th.domain(): 0}
		}
		out := map[string]int64{}
		for _, to := range th.to {
			_, domain, _ := strings.Cut(to, "@")
			out[domain]++
		}
		return out
	case ByBounceClass:
		if th.class == "" {
			return nil
		}
		return map[string]int64{th.class: 0}
	}
	return map[string]int64{"": all}
}

// counted computes the figures by period and group from the individual things.
func (tr *traffic) counted(account string, q Question, starts []time.Time, end time.Time) map[string]Figures {
	things := slices.Clone(tr.things)
	slices.SortStableFunc(things, func(a, b thing) int { return a.at.Compare(b.at) })
	out, first := map[string]Figures{}, map[string]bool{}
	for _, th := range things {
		once := th.kind + th.id + th.recipient
		if th.account != account || th.machine || th.kind != "email.sent" && first[once] {
			continue
		}
		first[once] = true
		at := th.at
		if q.ByEmail {
			at = th.sent
		}
		f := q.Filter
		if at.Before(starts[0]) || !at.Before(end) || f.DomainID != "" && f.DomainID != th.mail.domain ||
			f.APIKeyID != "" && f.APIKeyID != th.key ||
			f.TemplateID != "" && f.TemplateID != th.template || f.AutomationID != "" &&
			f.AutomationID != th.automation {
			continue
		}
		by := q.GroupBy
		if f.Tag+f.RecipientDomain+f.BounceClass != "" {
			by = ByTag
			if f.RecipientDomain != "" {
				by = ByRecipientDomain
			}
			if f.BounceClass != "" {
				by = ByBounceClass
			}
		}
		i, _ := slices.BinarySearchFunc(starts, at, func(a, b time.Time) int {
			if a.After(b) {
				return 1
			}
			return -1
		})
		for key, reach := range th.keys(by) {
			if chosen := f.Tag + f.RecipientDomain + f.BounceClass; chosen != "" && chosen != key {
				continue
			}
			if by != q.GroupBy {
				for k := range th.keys(q.GroupBy) {
					key = k
				}
			}
			place := starts[i-1].Format(time.RFC3339) + " " + key
			g := out[place]
			switch th.kind {
			case "email.sent":
				g.Accepted++
				g.Recipients += reach
			case "email.delivered":
				g.Delivered++
			case "email.delivery_delayed":
				g.Delayed++
			case "email.bounced":
				g.Bounced++
			case "email.failed":
				g.Failed++
			case "email.complained":
				g.Complained++
			case "email.opened":
				g.Opened++
			case "email.clicked":
				g.Clicked++
			case "contact.unsubscribed":
				g.Unsubscribed++
			}
			out[place] = g
		}
	}
	return out
}

// told returns an answer in the same format.
func told(a QueryResult, grouped bool) map[string]Figures {
	out := map[string]Figures{}
	take := func(key string, list []Bucket) {
		for _, b := range list {
			if b.Figures.took = nil; b.Figures != (Figures{}) {
				out[b.Start.Format(time.RFC3339)+" "+key] = b.Figures
			}
		}
	}
	if !grouped {
		take("", a.Buckets)
	}
	for _, g := range a.Groups {
		take(g.Key, g.Buckets)
	}
	if grouped && a.Other != nil {
		take(others, a.Other.Buckets)
	}
	return out
}

// others is the name of the groups that are not listed.
const others = "others"

// folded combines all groups except the largest ones.
func folded(all map[string]Figures, top int) map[string]Figures {
	sizes := map[string]int64{}
	for place, f := range all {
		_, key, _ := strings.Cut(place, " ")
		sizes[key] += f.Size()
	}
	keys := slices.SortedFunc(maps.Keys(sizes),
		func(x, y string) int { return cmp.Or(int(sizes[y]-sizes[x]), strings.Compare(x, y)) })
	out := map[string]Figures{}
	for place, f := range all {
		start, key, _ := strings.Cut(place, " ")
		if slices.Index(keys, key) >= top {
			place = start + " " + others
		}
		g := out[place]
		g.Add(f)
		out[place] = g
	}
	return out
}

// After random traffic, every answer equals a count of the individual results, wherever the mark is: in time
// zones with half hours, across clock changes, by event and by email, after counting again, and after
// rebuilding.
func TestAnswersMatchIndividualResults(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 7)
	// Clocks change in Lord Howe (by half an hour) on 4 October 2026 and in St. John's on 1 November.
	sends := func(day time.Time) {
		for range 40 {
			tr.sends(day.Add(time.Duration(tr.dice.IntN(24*3600)) * time.Second))
		}
	}
	sends(time.Date(2026, 10, 3, 9, 0, 0, 0, time.UTC))
	compare := func(what string) {
		t.Helper()
		for range 40 {
			q := Question{Range: between(time.Date(2026, 10, 1+tr.dice.IntN(4), tr.dice.IntN(24), 7, 0, 0, time.UTC),
				time.Date(2026, 10, 5+tr.dice.IntN(35), tr.dice.IntN(24), 7, 0, 0, time.UTC)),
				Interval: []Interval{Hour, Day, Week, Month}[tr.dice.IntN(4)],
				Timezone: tr.pick("UTC", "Australia/Lord_Howe", "America/St_Johns", "Asia/Kathmandu", "Europe/Vienna"),
				GroupBy: []Dimension{"", "", ByDomain, ByAPIKey, ByTemplate, ByAutomation, ByTag, ByRecipientDomain,
					ByRecipientDomain, ByBounceClass}[tr.dice.IntN(10)], Top: []int{1, 2, 9}[tr.dice.IntN(3)],
				ByEmail: tr.dice.IntN(2) == 0,
				Filter: Filter{DomainID: tr.pick("", "", "dom_a"), APIKeyID: tr.pick("", "", "key_b"),
					TemplateID: tr.pick("", "", "tpl_a"), AutomationID: tr.pick("", "", "aut_a")}}
			if q.GroupBy == "" || dimensions[q.GroupBy].kind == rollup.Sender {
				switch tr.dice.IntN(5) {
				case 0:
					q.Filter.Tag = "env=prod"
				case 1:
					q.Filter.RecipientDomain = "a.example"
				case 2:
					q.Filter.BounceClass = "bad_address"
				}
			}
			account := tr.account[tr.dice.IntN(2)]
			got, err := tr.Query(t.Context(), account, q)
			if err != nil {
				t.Fatalf("%s: %+v: %v", what, q, err)
			}
			axis, _, err := q.plan()
			if err != nil {
				t.Fatal(err)
			}
			want := tr.counted(account, q, axis.Starts, axis.End)
			if q.GroupBy != "" {
				want = folded(want, q.Top)
			}
			if diff := gocmp.Diff(want, told(got, q.GroupBy != ""), gocmp.AllowUnexported(Figures{})); diff != "" {
				t.Fatalf("%s: %+v: expected (-) and actual (+):\n%s", what, q, diff)
			}
		}
	}
	compare("nothing is counted yet")
	counted := func(at time.Time) {
		t.Helper()
		tr.horizon.at = at
		for range 2 {
			if err := tr.Count(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		compare("counted up to " + at.Format(time.RFC3339))
	}
	packed := func(at time.Time) {
		t.Helper()
		if err := store.Pack(t.Context(), tr.db, at); err != nil {
			t.Fatal(err)
		}
		compare("packed at " + at.Format(time.RFC3339))
	}
	counted(time.Date(2026, 10, 3, 17, 1, 0, 0, time.UTC))
	counted(time.Date(2026, 10, 5, 17, 1, 0, 0, time.UTC))
	sends(time.Date(2026, 10, 31, 20, 0, 0, 0, time.UTC))
	counted(time.Date(2026, 11, 1, 3, 33, 0, 0, time.UTC))
	packed(time.Date(2026, 11, 8, 0, 0, 0, 0, time.UTC))
	counted(time.Date(2026, 11, 9, 0, 0, 0, 0, time.UTC))
	packed(time.Date(2026, 11, 9, 0, 0, 0, 0, time.UTC)) // added to October since
	var last Progress
	if err := tr.Rebuild(t.Context(), func(p Progress) { last = p }); err != nil || last.Facts == 0 ||
		last.Accounts != 2 || last.Whole != 2 {
		t.Fatalf("the rebuild stopped at %+v: %v", last, err)
	}
	compare("rebuilt")
	tr.exec(`TRUNCATE statistics_days, statistics_months, statistics_reasons`)
	if err := tr.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	compare("rebuilt from nothing")
	tr.exec(`DELETE FROM statistics_days WHERE account_id = $1 AND start < '2026-10-05'`, tr.account[0])
	if err := store.Pack(t.Context(), tr.db, time.Date(2027, 1, 9, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if err := tr.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	compare("partly rebuilt, along with months")
}

// Deleted mail stays counted, even if its facts were uncounted when it was deleted.
func TestDeletedMailStaysCounted(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 8)
	start := time.Date(2026, 10, 31, 20, 0, 0, 0, time.UTC)
	for range 30 {
		tr.sends(start.Add(time.Duration(tr.dice.IntN(24*3600)) * time.Second))
	}
	tr.horizon.at = start.Add(12 * time.Hour)
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := Question{Range: between(start.AddDate(0, 0, -1), start.AddDate(0, 0, 9)), Interval: Day, Timezone: "UTC",
		Latency: true}
	want, err := tr.Query(t.Context(), tr.account[0], q)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, th := range tr.things {
		if th.account == tr.account[0] && th.kind == "email.sent" && tr.dice.IntN(2) == 0 {
			ids = append(ids, th.id)
		}
	}
	tx, err := tr.db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Keep(t.Context(), tx, tr.account[0], ids...); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`DELETE FROM emails WHERE id = ANY($1)`, `DELETE FROM facts WHERE subject_id = ANY($1)`} {
		if _, err := tx.ExecContext(t.Context(), statement, db.Array(ids)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	same := func(what string) {
		t.Helper()
		got, err := tr.Query(t.Context(), tr.account[0], q)
		if diff := gocmp.Diff(want.Result, got.Result, gocmp.AllowUnexported(Figures{})); err != nil || diff != "" {
			t.Errorf("%s: %v: before (-) and after (+) the deletion:\n%s", what, err, diff)
		}
	}
	same("deleted")
	tr.horizon.at = start.AddDate(0, 0, 9)
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	same("counted to the end")
	if err := tr.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	same("rebuilt")
}

// When one of several recipients is erased, that recipient's results stay counted, even if they were
// uncounted before, and so do those of the others.
func TestErasedRecipientsStayCounted(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 11)
	start := time.Date(2026, 10, 31, 20, 0, 0, 0, time.UTC)
	for range 40 {
		tr.sends(start.Add(time.Duration(tr.dice.IntN(24*3600)) * time.Second))
	}
	tr.horizon.at = start.Add(12 * time.Hour)
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := Question{Range: Range{Since: start.AddDate(0, 0, -1), Until: start.AddDate(0, 0, 9)}, Interval: Hour,
		Timezone: "UTC", Latency: true, GroupBy: ByTag, Top: 9}
	want, err := tr.Query(t.Context(), tr.account[0], q)
	if err != nil {
		t.Fatal(err)
	}
	erased := 0
	for _, th := range tr.things {
		if th.account != tr.account[0] || th.kind != "email.sent" || len(th.to) < 2 {
			continue
		}
		erased++
		tx, err := tr.db.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		err = tr.PreserveCounts(t.Context(), tx, tr.account[0], []string{th.id}, func() error {
			if _, err := tx.ExecContext(t.Context(), `DELETE FROM facts WHERE subject_id = $1 AND data->>'recipient' = $2`, th.id, th.to[0]); err != nil {
				return err
			}
			_, err := tx.ExecContext(t.Context(), `DELETE FROM recipients WHERE email_id = $1 AND address = $2`, th.id, th.to[0])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if erased < 5 {
		t.Fatalf("only %d emails had several recipients, which is too few for this test", erased)
	}
	for _, what := range []string{"erased", "counted to the end"} {
		got, err := tr.Query(t.Context(), tr.account[0], q)
		if diff := gocmp.Diff(want.Result, got.Result, gocmp.AllowUnexported(Figures{})); err != nil || diff != "" {
			t.Errorf("%s: %v: before (-) and after (+) the erasure:\n%s", what, err, diff)
		}
		tr.horizon.at = start.AddDate(0, 0, 9)
		if err := tr.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Disabled statistics continue where they stopped once they are enabled again, in as many steps as necessary.
// A fact whose retention ended meanwhile was counted long before. Statistics are kept for 25 months.
func TestDisabledStatisticsCatchUp(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 12)
	now := time.Now().UTC().Truncate(time.Hour)
	for _, days := range []int{-700, -60, -30, -3} {
		for range 8 {
			tr.sends(now.AddDate(0, 0, days).Add(time.Duration(tr.dice.IntN(24*3600)) * time.Second))
		}
		if days == -60 {
			tr.horizon.at = now.AddDate(0, 0, -50) // now they are disabled
			if err := tr.Count(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	q := Question{Range: Range{Since: now.AddDate(-3, 0, 0), Until: now.AddDate(0, 0, 3)}, Interval: Month,
		Timezone: "UTC", ByEmail: true}
	check := func(what string) {
		t.Helper()
		axis, _, err := q.plan()
		if err != nil {
			t.Fatal(err)
		}
		got, err := tr.Query(t.Context(), tr.account[0], q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tr.counted(tr.account[0], q, axis.Starts, axis.End), told(got, false),
			gocmp.AllowUnexported(Figures{})); diff != "" {
			t.Errorf("%s: expected (-) and actual (+):\n%s", what, diff)
		}
	}
	check("off")
	tr.horizon.at = now.AddDate(0, 0, 2)
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("enabled again")
	tr.exec(`DELETE FROM facts`)
	if _, err := tr.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("the facts are gone, and statistics of 700 days are not")
	tr.exec(`UPDATE statistics_days SET start = start - interval '92 days' WHERE start < $1`, now.AddDate(0, 0, -600))
	if n, err := tr.sweep(t.Context()); err != nil || n == 0 {
		t.Fatalf("%d rows older than 25 months were deleted, %v", n, err)
	}
	left, err := db.One(t.Context(), tr.db.SQL, db.Value[int], `SELECT count(*) FROM statistics_days WHERE start < now() - interval '25 months'`)
	if err != nil || left != 0 {
		t.Fatalf("%d rows older than 25 months remain, %v", left, err)
	}
}

func TestReasonsAndLatencies(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 9)
	at := time.Date(2026, 11, 3, 10, 20, 0, 0, time.UTC)
	tr.account[1] = tr.account[0]
	for range 30 {
		tr.sends(at)
	}
	for _, counted := range []time.Time{at.Add(30 * time.Minute), at.Add(99 * time.Hour)} {
		tr.horizon.at = counted
		if err := tr.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := between(at, at.AddDate(0, 0, 5))
		got, err := tr.Reasons(t.Context(), tr.account[0], r, Filter{}, 3)
		if err != nil || len(got) != 3 || got[0].Recipients < got[1].Recipients {
			t.Fatalf("Reasons returned %+v, %v", got, err)
		}
		byKey := map[[2]string]int64{}
		var took []time.Duration
		for _, th := range tr.things {
			if th.kind == "email.bounced" {
				byKey[[2]string{th.class, "mx." + th.domain()}]++
			}
			if th.kind == "email.failed" {
				byKey[[2]string{th.class, ""}]++
			}
			if th.kind == "email.delivered" {
				took = append(took, th.at.Sub(th.sent))
			}
		}
		for _, r := range got {
			if r.Recipients != byKey[[2]string{r.Class, r.Host}] || r.EmailID == "" || r.Host != "" &&
				(r.EnhancedCode != "5.1.1" || !strings.HasSuffix(r.Diagnostic, strings.TrimPrefix(r.Host, "mx."))) {
				t.Errorf("the reason is %+v, want %d recipients", r, byKey[[2]string{r.Class, r.Host}])
			}
		}
		a, err := tr.Query(t.Context(), tr.account[0], Question{Range: r, Interval: Day, Timezone: "UTC", Latency: true,
			GroupBy: ByDomain, Top: 5})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(took)
		for share, want := range map[float64]time.Duration{0.5: took[(len(took)+1)/2-1],
			0.95: took[(len(took)*95+99)/100-1]} {
			if got, is := a.Totals.LatencyWithin(share); !is || got.Seconds() < want.Seconds()/1.1 ||
				got.Seconds() > want.Seconds()*1.1 {
				t.Errorf("the share %v was delivered within %v, want %v to within 10 %%", share, got, want)
			}
		}
		if a.Totals.Delivered != int64(len(took)) {
			t.Errorf("the answer has %d deliveries, want %d", a.Totals.Delivered, len(took))
		}
	}
}

func TestQuestionReportsInvalidFields(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 10)
	day := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	for field, change := range map[string]func(*Question){
		"range":    func(q *Question) { q.Range = between(day, day) },
		"range ":   func(q *Question) { q.Range = between(day, day.AddDate(0, 0, -1)) },
		"range  ":  func(q *Question) { q.Range, q.Interval = between(day.AddDate(-6, 0, 0), day), Hour },
		"range   ": func(q *Question) { q.Range = between(day.AddDate(-1000, 0, 0), day) },
		"range    ": func(q *Question) {
			q.GroupBy, q.Top, q.Interval, q.Range = ByTag, 100, Hour, between(day.AddDate(0, 0, -5), day)
		},
		"timezone":               func(q *Question) { q.Timezone = "Mars/Olympus" },
		"timezone ":              func(q *Question) { q.Timezone = "../../etc/passwd" },
		"timezone  ":             func(q *Question) { q.Timezone = "Local" },
		"interval":               func(q *Question) { q.Interval = "minute" },
		"groupBy":                func(q *Question) { q.GroupBy, q.Filter.RecipientDomain = ByTag, "a.example" },
		"groupBy ":               func(q *Question) { q.GroupBy = "sender" },
		"filter.recipientDomain": func(q *Question) { q.Filter.Tag, q.Filter.RecipientDomain = "a=b", "a.example" },
		"top":                    func(q *Question) { q.GroupBy, q.Top = ByTag, 0 },
		"top ":                   func(q *Question) { q.GroupBy, q.Top = ByTag, 101 },
	} {
		q := Question{Range: between(day.AddDate(0, 0, -2), day), Interval: Day, Timezone: "UTC", Top: 5}
		change(&q)
		_, err := tr.Query(t.Context(), tr.account[0], q)
		if f := fault.Classify(err); err == nil || f.Fields[strings.TrimSpace(field)] == "" {
			t.Errorf("an invalid %s returned %v", field, err)
		}
	}
}
