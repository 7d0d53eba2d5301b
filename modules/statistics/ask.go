package statistics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

// Range is the time range of a question.
type Range = timeseries.Range

// Interval is the length of a period.
type Interval = timeseries.Interval

// The intervals.
const (
	Hour  = timeseries.Hour
	Day   = timeseries.Day
	Week  = timeseries.Week
	Month = timeseries.Month
)

// Dimension is a property by which figures are grouped.
type Dimension string

// The dimensions. The first four group mail by its sender; an email with two tags counts in the groups of both.
const (
	ByDomain          Dimension = "domain"
	ByAPIKey          Dimension = "api_key"
	ByTemplate        Dimension = "template"
	ByAutomation      Dimension = "automation"
	ByTag             Dimension = "tag"
	ByRecipientDomain Dimension = "recipient_domain"
	ByBounceClass     Dimension = "bounce_class"
)

var dimensions = map[Dimension]struct {
	kind   rollup.RowKind
	column string
}{
	ByDomain: {rollup.Sender, "domain_id"}, ByAPIKey: {rollup.Sender, "api_key_id"},
	ByTemplate: {rollup.Sender, "template_id"}, ByAutomation: {rollup.Sender, "automation_id"},
	ByTag: {rollup.SenderTag, "key"}, ByRecipientDomain: {rollup.SenderDomain, "key"},
	ByBounceClass: {rollup.SenderClass, "key"},
}

// Filter selects the mail to count. Empty fields select all; at most one of the last three may be set.
type Filter struct {
	DomainID, APIKeyID, TemplateID, AutomationID string

	Tag             string // as name=value
	RecipientDomain string
	BounceClass     string
}

// Question is a query about sent mail.
type Question struct {
	Range    Range
	Interval Interval
	Timezone string // for example Europe/Vienna
	GroupBy  Dimension
	Top      int // number of the largest groups to return individually
	Filter   Filter
	ByEmail  bool // count results at the time the email was handed over instead of the time they happened
	Latency  bool // include delivery latencies
}

// Figures are counts. All but Accepted and Suppressed count recipients, each once.
type Figures struct {
	Accepted     int64 // emails handed over to delivery
	Recipients   int64 // recipients of these emails
	Delivered    int64
	Delayed      int64
	Bounced      int64
	Failed       int64
	Complained   int64
	Opened       int64
	Clicked      int64
	Unsubscribed int64
	Suppressed   int64 // emails that were blocked

	took *latencies // nil if unknown
}

func (f *Figures) scan() []*int64 {
	return []*int64{&f.Accepted, &f.Recipients, &f.Delivered, &f.Delayed, &f.Bounced, &f.Failed, &f.Complained,
		&f.Opened, &f.Clicked, &f.Unsubscribed, &f.Suppressed}
}

// Add adds other figures.
func (f *Figures) Add(g Figures) {
	more := g.scan()
	for i, into := range f.scan() {
		*into += *more[i]
	}
	if g.took != nil {
		if f.took == nil {
			f.took = new(latencies)
		}
		for bin, n := range g.took {
			f.took[bin] += n
		}
	}
}

// LatencyWithin returns the time within which a share of deliveries completed, from acceptance to delivery, to within
// 10 %. It returns false if there were no deliveries.
func (f *Figures) LatencyWithin(share float64) (time.Duration, bool) {
	all := int64(0)
	if f.took == nil {
		return 0, false
	}
	for _, n := range f.took {
		all += n
	}
	if all == 0 {
		return 0, false
	}
	rank, seen := int64(math.Ceil(share*float64(all))), int64(0)
	for bin, n := range f.took {
		if seen += n; seen >= rank {
			return time.Duration(rollup.FirstBin * math.Pow(rollup.Widening, float64(bin)+0.5) * float64(time.Second)),
				true
		}
	}
	return 0, false
}

// MedianSeconds returns the median time from acceptance to delivery, or nil if there were no deliveries.
func (f *Figures) MedianSeconds() *float64 {
	median, known := f.LatencyWithin(0.5)
	if !known {
		return nil
	}
	return new(median.Seconds())
}

// Bucket is a period.
type Bucket = timeseries.Bucket[Figures]

// Group is a group of mail.
type Group = timeseries.Group[Figures]

// QueryResult is the result of a Question.
type QueryResult struct {
	timeseries.Result[Figures]

	AsOf time.Time // everything before it is counted
}

const maxTop = 100

// kind returns the kind of rows that contain the answer to a question.
func (q Question) kind(wrong fault.Fields) rollup.RowKind {
	kind, by := rollup.Account, ""
	take := func(field string, given bool, k rollup.RowKind) {
		switch {
		case !given:
		case kind >= rollup.SenderTag && k >= rollup.SenderTag && k != kind:
			wrong.Add(field, "cannot be combined with %s: use one of tag, recipientDomain and bounceClass at a time",
				by)
		case k > kind:
			kind, by = k, field
		}
	}
	f := q.Filter
	take("filter", f.bySender(), rollup.Sender)
	take("filter.tag", f.Tag != "", rollup.SenderTag)
	take("filter.recipientDomain", f.RecipientDomain != "", rollup.SenderDomain)
	take("filter.bounceClass", f.BounceClass != "", rollup.SenderClass)
	if q.GroupBy != "" {
		d, known := dimensions[q.GroupBy]
		if !known {
			wrong.Add("groupBy", "is not a dimension")
		}
		take("groupBy", known, d.kind)
	}
	if !f.bySender() && dimensions[q.GroupBy].kind != rollup.Sender { // for any sender
		switch kind {
		case rollup.SenderTag:
			return rollup.Tag
		case rollup.SenderDomain:
			return rollup.Domain
		}
	}
	return kind
}

func (f Filter) bySender() bool {
	return f.DomainID+f.APIKeyID+f.TemplateID+f.AutomationID != ""
}

// plan validates a question and returns its periods and kind of rows.
func (q Question) plan() (axis timeseries.Axis, kind rollup.RowKind, err error) {
	wrong := fault.Fields{}
	kind = q.kind(wrong)
	groups := 0
	if q.GroupBy != "" {
		groups = checkTop(wrong, q.Top)
	}
	axis = timeseries.Query{Range: q.Range, Interval: q.Interval, Timezone: q.Timezone}.Axis(wrong, groups)
	return axis, kind, wrong.Err()
}

// checkTop validates the number of requested groups.
func checkTop(wrong fault.Fields, top int) int {
	if top < 1 || top > maxTop {
		wrong.Add("top", "must be between 1 and %d", maxTop)
		return 0
	}
	return top
}

// Query returns figures of an account's mail. Error: Invalid.
func (s *Service) Query(ctx context.Context, accountID string, q Question) (answer QueryResult, err error) {
	axis, kind, err := q.plan()
	if err != nil {
		return QueryResult{}, err
	}
	err = s.db.Read(ctx, func(on *ent.Client) error {
		return atOnce(ctx, on, func(tx db.Execer) error {
			recent, err := readTail(ctx, tx, accountID)
			if err != nil {
				return err
			}
			answer, err = newReading(tx, accountID, axis, q, recent).ask(ctx, q, kind)
			return err
		})
	})
	if err != nil {
		return QueryResult{}, fmt.Errorf("statistics: %w", err)
	}
	return answer, nil
}

// ask reads the rows of a question and combines them.
func (r *reading) ask(ctx context.Context, q Question, kind rollup.RowKind) (QueryResult, error) {
	keys, periods, grouped := q.Filter.keys(), len(r.axis.Starts), dimensions[q.GroupBy]
	var groups sums
	var shown []string
	var whole, rest []sum
	var err error
	switch {
	case q.GroupBy == "":
		groups, err = r.rows(ctx, kind, noGroup, keys)
		whole = groups.groupSums("", periods)
	case grouped.column == "key" && grouped.kind != rollup.SenderClass && keys == nil:
		groups, shown, rest, err = r.largestKeys(ctx, kind, q.Top)
	default:
		if groups, err = r.rows(ctx, kind, grouped.column, keys); err == nil {
			shown = groups.largestGroups(q.Top)
			rest = groups.sumExcept(shown, periods)
		}
	}
	if err == nil && whole == nil {
		whole, err = r.readWhole(ctx, q, kind, groups)
	}
	if err != nil {
		return QueryResult{}, err
	}
	answer := QueryResult{r.answer(whole, groups, shown, rest), r.tail.asOf}
	return answer, label(ctx, r.tx, r.accountID, labels[q.GroupBy], answer.Groups)
}

// readWhole reads the totals over all groups of a question. An email may count in no group of a dimension, or
// in two, so the totals come from the question without groups.
func (r *reading) readWhole(ctx context.Context, q Question, kind rollup.RowKind, groups sums) ([]sum, error) {
	if dimensions[q.GroupBy].column != "key" {
		return groups.sumExcept(nil, len(r.axis.Starts)), nil
	}
	keys := q.Filter.keys()
	if keys == nil {
		if kind = rollup.Account; q.Filter.bySender() {
			kind = rollup.Sender
		}
	}
	whole, err := r.rows(ctx, kind, noGroup, keys)
	return whole.groupSums("", len(r.axis.Starts)), err
}

// keys returns the key that the filter selects, or nil.
func (f Filter) keys() []string {
	if key := f.Tag + strings.ToLower(f.RecipientDomain) + f.BounceClass; key != "" {
		return []string{key}
	}
	return nil
}

// Size returns the figure by which groups are compared.
func (f *Figures) Size() int64 {
	return f.Accepted + f.Recipients + f.Delivered + f.Bounced + f.Failed + f.Complained + f.Opened + f.Clicked + f.Unsubscribed + f.Suppressed
}

var labels = map[Dimension]string{
	ByDomain:     `SELECT id, name FROM domains WHERE account_id = $1 AND id = ANY($2)`,
	ByAPIKey:     `SELECT id, name FROM api_keys WHERE account_id = $1 AND id = ANY($2)`,
	ByTemplate:   `SELECT id, name FROM templates WHERE account_id = $1 AND id = ANY($2)`,
	ByAutomation: `SELECT id, name FROM automations WHERE account_id = $1 AND id = ANY($2)`,
}

// label adds the display names of groups; a deleted group is shown with its id. An empty statement means that
// the keys are the names.
func label[F any](ctx context.Context, on db.Execer, accountID, statement string, groups []timeseries.Group[F]) error {
	keys := make([]string, len(groups))
	for i := range groups {
		groups[i].Label, keys[i] = groups[i].Key, groups[i].Key
	}
	if statement == "" || len(groups) == 0 {
		return nil
	}
	type named struct{ id, name string }
	found, err := db.All(ctx, on, func(n *named) []any { return []any{&n.id, &n.name} }, statement, accountID,
		db.Array(keys))
	if err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	for _, n := range found {
		if i := slices.Index(keys, n.id); i >= 0 && n.name != "" {
			groups[i].Label = n.name
		}
	}
	return nil
}
