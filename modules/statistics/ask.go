package statistics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/timeseries"
)

// Range is the time of a question.
type Range = timeseries.Range

// Interval is how long its periods are.
type Interval = timeseries.Interval

// The intervals.
const (
	Hour  = timeseries.Hour
	Day   = timeseries.Day
	Week  = timeseries.Week
	Month = timeseries.Month
)

// Dimension is what figures may be broken down by.
type Dimension string

// The dimensions. By the first four mail is told apart by who sent it; an email with two tags counts
// in the groups of both.
const (
	ByDomain          Dimension = "domain"
	ByAPIKey          Dimension = "api_key"
	ByTemplate        Dimension = "template"
	ByAutomation      Dimension = "automation"
	ByTag             Dimension = "tag"
	ByRecipientDomain Dimension = "recipient_domain"
	ByBounceClass     Dimension = "bounce_class"
)

// The kinds of rows: see the table.
const (
	kindAccount = iota
	kindSender
	kindTag
	kindRecipientDomain
	kindBounceClass
	kindRecipientDomainAlone // whoever sent
	kindRecipientDomains     // all of them together
)

var dimensions = map[Dimension]struct {
	kind   int
	column string
}{
	ByDomain: {kindSender, "domain_id"}, ByAPIKey: {kindSender, "api_key_id"}, ByTemplate: {kindSender, "template_id"}, ByAutomation: {kindSender, "automation_id"},
	ByTag: {kindTag, "key"}, ByRecipientDomain: {kindRecipientDomain, "key"}, ByBounceClass: {kindBounceClass, "key"},
}

// Filter says which mail is counted. Empty fields do not filter; of the last three one may be given.
type Filter struct {
	DomainID, APIKeyID, TemplateID, AutomationID string

	Tag             string // as name=value
	RecipientDomain string
	BounceClass     string
}

// Question is what is asked for.
type Question struct {
	Range    Range
	Interval Interval
	Timezone string // as Europe/Vienna
	GroupBy  Dimension
	Top      int // groups that are shown by themselves, the largest ones
	Filter   Filter
	ByEmail  bool // a figure stands where its email was handed over, not where it happened
	Latency  bool // how long deliveries took is wanted
}

// Figures are counts. All but Accepted and Suppressed count recipients, each once.
type Figures struct {
	Accepted     int64 // emails handed over to delivery
	Recipients   int64 // of them
	Delivered    int64
	Delayed      int64
	Bounced      int64
	Failed       int64
	Complained   int64
	Opened       int64
	Clicked      int64
	Unsubscribed int64
	Suppressed   int64 // emails that were blocked

	took [lastBin + 1]int64
}

func (f *Figures) scan() []any {
	return []any{&f.Accepted, &f.Recipients, &f.Delivered, &f.Delayed, &f.Bounced, &f.Failed, &f.Complained, &f.Opened, &f.Clicked, &f.Unsubscribed, &f.Suppressed}
}

// Add adds other figures.
func (f *Figures) Add(g Figures) {
	for i, into := range f.scan() {
		*into.(*int64) += *g.scan()[i].(*int64)
	}
	for i, n := range g.took {
		f.took[i] += n
	}
}

// Took gives the time in which the share of deliveries was made, from hand-over to delivery, to within
// 10 %. False: none was made.
func (f *Figures) Took(share float64) (time.Duration, bool) {
	all := int64(0)
	for _, n := range f.took {
		all += n
	}
	if all == 0 {
		return 0, false
	}
	rank, seen := int64(math.Ceil(share*float64(all))), int64(0)
	for bin, n := range f.took {
		if seen += n; seen >= rank {
			return time.Duration(firstBin * math.Pow(widening, float64(bin)+0.5) * float64(time.Second)), true
		}
	}
	return 0, false
}

// Bucket is a period.
type Bucket = timeseries.Bucket[Figures]

// Group is mail that has something in common.
type Group = timeseries.Group[Figures]

// Answer is what a question is answered.
type Answer = timeseries.Answer[Figures]

const maxTop = 100

// kind gives which rows answer a question.
func (q Question) kind(wrong fault.Fields) int {
	kind, by := kindAccount, ""
	take := func(field string, given bool, k int) {
		switch {
		case !given:
		case kind >= kindTag && k >= kindTag && k != kind:
			wrong.Add(field, "cannot be beside %s: mail is counted by one of tag, recipientDomain and bounceClass at a time", by)
		case k > kind:
			kind, by = k, field
		}
	}
	f := q.Filter
	take("filter", f.DomainID+f.APIKeyID+f.TemplateID+f.AutomationID != "", kindSender)
	take("filter.tag", f.Tag != "", kindTag)
	take("filter.recipientDomain", f.RecipientDomain != "", kindRecipientDomain)
	take("filter.bounceClass", f.BounceClass != "", kindBounceClass)
	if q.GroupBy != "" {
		d, known := dimensions[q.GroupBy]
		if !known {
			wrong.Add("groupBy", "is not a dimension")
		}
		take("groupBy", known, d.kind)
	}
	return kind
}

// plan checks a question, and gives the periods and which rows answer it.
func (q Question) plan() (axis timeseries.Axis, kind int, err error) {
	wrong := fault.Fields{}
	kind = q.kind(wrong)
	groups := 0
	if q.GroupBy != "" {
		groups = checkTop(wrong, q.Top)
	}
	axis = timeseries.Question{Range: q.Range, Interval: q.Interval, Timezone: q.Timezone}.Axis(wrong, groups)
	return axis, kind, wrong.Err()
}

// checkTop checks how many groups are asked for.
func checkTop(wrong fault.Fields, top int) int {
	if top < 1 || top > maxTop {
		wrong.Add("top", "must be between 1 and %d", maxTop)
		return 0
	}
	return top
}

// rowsSQL makes chosen: the rows of a question that are counted, by stretches (see timeseries), and what
// stands behind the mark. OFFSET keeps a look-up in the index for each stretch: the planner does not
// know how little each one takes of the table.
func rowsSQL(table, tail, columns string) string {
	const chosen = `(@domain = '' OR domain_id = @domain) AND (@api_key = '' OR api_key_id = @api_key) AND (@template = '' OR template_id = @template) AND (@automation = '' OR automation_id = @automation)
	   AND (@key = '' OR key = @key)`
	return `chosen AS (
	SELECT c.* FROM unnest(@grains::smallint[], @begins::timestamptz[], @ends::timestamptz[]) AS g (grain, begins, ends), LATERAL (
	SELECT start, domain_id, api_key_id, template_id, automation_id, key, ` + columns + ` FROM ` + table + ` s
	 WHERE account_id = @account AND s.grain = g.grain AND placed = @placed AND kind = @kind AND start >= g.begins AND start < g.ends AND ` + chosen + ` OFFSET 0) c
	UNION ALL
	SELECT start, domain_id, api_key_id, template_id, automation_id, key, ` + columns + ` FROM ` + tail + `
	 WHERE placed = @placed AND kind = @kind AND start >= @begin AND start < @end AND ` + chosen + `
)`
}

const figureColumns = `accepted, recipients, delivered, delayed, bounced, failed, complained, opened, clicked, unsubscribed, suppressed`

// sizeSQL is Figures.Size.
const sizeSQL = `accepted + recipients + delivered + bounced + failed + complained + opened + clicked + unsubscribed + suppressed`

// tailSQL is the selection of what is behind the mark. Rows and mark are seen at one moment.
var tailSQL = factsSQL(tailSelection, "+")

const tailSelection = `f.account_id = @account AND f.id >= coalesce((SELECT fact_id FROM statistics_marks), '')`

// figuresSQL sums rows by period and group first, and finds the largest groups among the sums: rows are
// gone over once.
func figuresSQL(group string) *db.Statement {
	return db.Compile(`WITH ` + tailSQL + `, ` + rowsSQL("statistics", "q", figureColumns) + `, sums AS MATERIALIZED (
	SELECT width_bucket(start, @starts::timestamptz[]) - 1 AS period, ` + group + ` AS g, ` + summed(figureColumns, true) + ` FROM chosen GROUP BY 1, 2
), top AS (
	SELECT g FROM sums GROUP BY g
	 ORDER BY sum(` + sizeSQL + `) DESC, g LIMIT @top
)
SELECT period, coalesce(t.g, ''), t.g IS NULL, ` + summed(figureColumns, false) + ` FROM sums s LEFT JOIN top t ON t.g = s.g GROUP BY 1, 2, 3`)
}

// summed gives the sums of columns, under their names or not.
func summed(columns string, named bool) string {
	list := strings.Split(columns, ", ")
	for i, column := range list {
		list[i] = "sum(" + column + ")::bigint"
		if named {
			list[i] += " AS " + column
		}
	}
	return strings.Join(list, ", ")
}

func latenciesSQL(group string) *db.Statement {
	return db.Compile(`WITH ` + tailSQL + `, ` + rowsSQL("statistics_latencies", "l", "bin, recipients") + `
SELECT width_bucket(start, @starts::timestamptz[]) - 1, CASE WHEN ` + group + ` = ANY(@keys::text[]) THEN ` + group + ` ELSE '' END, NOT ` + group + ` = ANY(@keys::text[]), bin, sum(recipients)::bigint
  FROM chosen GROUP BY 1, 2, 3, 4`)
}

// statements are made once, by the column that groups are of.
var figures, latencies = byColumn(figuresSQL), byColumn(latenciesSQL)

const noColumn = "''"

func byColumn(text func(column string) *db.Statement) map[string]*db.Statement {
	out := map[string]*db.Statement{}
	for _, column := range []string{noColumn, "domain_id", "api_key_id", "template_id", "automation_id", "key"} {
		out[column] = text(column)
	}
	return out
}

// figure is what one row of an answer says.
type figure = timeseries.Row[Figures]

// source is where the rows of a question are read.
type source struct {
	figures, latencies *db.Statement

	args []db.Argument // of both statements
	only []db.Argument // of the figures alone
}

// rows gives the source of a question: what is known of each sender, or of recipients' domains alone.
func (q Question) rows(accountID string, axis timeseries.Axis, kind int) source {
	of := axis.Stretches()
	args := []db.Argument{db.Arg("account", accountID), db.Arg("placed", placed(q.ByEmail)), db.Arg("grains", db.Array(of.Grains)), db.Arg("begins", db.Array(of.Begins)), db.Arg("ends", db.Array(of.Ends)),
		db.Arg("begin", axis.Begin()), db.Arg("end", axis.End), db.Arg("starts", axis.Bounds())}
	top := db.Arg("top", max(q.Top, 1))
	f, bySender := q.Filter, q.GroupBy != "" && q.GroupBy != ByRecipientDomain
	if kind == kindRecipientDomain && !bySender && f.DomainID+f.APIKeyID+f.TemplateID+f.AutomationID == "" {
		rank := axis.Covering(fortnight)
		return source{domainFigures, domainLatencies, append(args, db.Arg("rest", q.GroupBy != "" && f.RecipientDomain == "")),
			[]db.Argument{db.Arg("rank_grains", db.Array(rank.Grains)), db.Arg("rank_begins", db.Array(rank.Begins)), db.Arg("rank_ends", db.Array(rank.Ends)), db.Arg("key", strings.ToLower(f.RecipientDomain)), top}}
	}
	group := noColumn
	if q.GroupBy != "" {
		group = dimensions[q.GroupBy].column
	}
	return source{figures[group], latencies[group], append(args, db.Arg("kind", kind), db.Arg("domain", f.DomainID), db.Arg("api_key", f.APIKeyID), db.Arg("template", f.TemplateID),
		db.Arg("automation", f.AutomationID), db.Arg("key", strings.ToLower(f.RecipientDomain)+f.Tag+f.BounceClass)), []db.Argument{top}}
}

// read gives the rows of a question, with how long deliveries took if that is asked.
func read(ctx context.Context, on db.Execer, q Question, from source) ([]figure, error) {
	found, err := db.All(ctx, on, func(f *figure) []any { return append([]any{&f.Period, &f.Key, &f.Rest}, f.Figures.scan()...) }, from.figures.Text, from.figures.Args(slices.Concat(from.args, from.only)...)...)
	if err != nil || !q.Latency {
		return found, err
	}
	var keys []string
	for _, f := range found {
		if !f.Rest && !slices.Contains(keys, f.Key) {
			keys = append(keys, f.Key)
		}
	}
	type bin struct {
		figure
		number int
		n      int64
	}
	took, err := db.All(ctx, on, func(b *bin) []any { return []any{&b.Period, &b.Key, &b.Rest, &b.number, &b.n} }, from.latencies.Text, from.latencies.Args(append(slices.Clone(from.args), db.Arg("keys", db.Array(keys)))...)...)
	for _, b := range took {
		b.Figures.took[b.number] = b.n
		found = append(found, b.figure)
	}
	return found, err
}

// Ask answers a question about an account's mail. Error: Invalid.
func (s *Service) Ask(ctx context.Context, accountID string, q Question) (answer Answer, err error) {
	err = s.db.Read(ctx, func(on *ent.Client) (err error) {
		answer, err = ask(ctx, on, accountID, q)
		return err
	})
	return answer, err
}

func ask(ctx context.Context, on db.Execer, accountID string, q Question) (Answer, error) {
	axis, kind, err := q.plan()
	if err != nil {
		return Answer{}, err
	}
	found, err := read(ctx, on, q, q.rows(accountID, axis, kind))
	if err != nil {
		return Answer{}, fmt.Errorf("statistics: %w", err)
	}
	by := q.GroupBy
	answer := timeseries.Assemble[Figures](axis, found, by != "")
	if dimensions[by].kind >= kindTag { // an email may be in none of its groups, or in two
		q.GroupBy = ""
		whole, err := ask(ctx, on, accountID, q)
		if err != nil {
			return Answer{}, err
		}
		answer.Totals, answer.Buckets = whole.Totals, whole.Buckets
	}
	return answer, label(ctx, on, accountID, labels[by], answer.Groups)
}

func placed(byEmail bool) int {
	if byEmail {
		return 1
	}
	return 0
}

// Size is by what groups are compared.
func (f *Figures) Size() int64 {
	return f.Accepted + f.Recipients + f.Delivered + f.Bounced + f.Failed + f.Complained + f.Opened + f.Clicked + f.Unsubscribed + f.Suppressed
}

var labels = map[Dimension]string{
	ByDomain:     `SELECT id, name FROM domains WHERE account_id = $1 AND id = ANY($2)`,
	ByAPIKey:     `SELECT id, name FROM api_keys WHERE account_id = $1 AND id = ANY($2)`,
	ByTemplate:   `SELECT id, name FROM templates WHERE account_id = $1 AND id = ANY($2)`,
	ByAutomation: `SELECT id, name FROM automations WHERE account_id = $1 AND id = ANY($2)`,
}

// label names groups as people know them; what is gone is called by its id. An empty statement: the keys
// are what people know.
func label[F any](ctx context.Context, on db.Execer, accountID, statement string, groups []timeseries.Group[F]) error {
	keys := make([]string, len(groups))
	for i := range groups {
		groups[i].Label, keys[i] = groups[i].Key, groups[i].Key
	}
	if statement == "" || len(groups) == 0 {
		return nil
	}
	type named struct{ id, name string }
	found, err := db.All(ctx, on, func(n *named) []any { return []any{&n.id, &n.name} }, statement, accountID, db.Array(keys))
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
