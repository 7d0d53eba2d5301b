package deliverability

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Publisher is the part of the bus that the service needs.
type Publisher interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

const (
	watchEvery   = 15 * time.Minute
	watchBatch   = 200 // domains per step
	watchWindow  = 24 * time.Hour
	watchHistory = 7 * 24 * time.Hour
	watchTop     = 50 // domains of recipients per domain
	// minHistory is the number of recipients from which a share of them is compared.
	minHistory = 20
	// recoveredAfter is the time before which a provider does not count as recovered.
	recoveredAfter = "1 day"
	degradedDays   = 30 // after which a provider without enough mail is forgotten
)

// degradeLimit is when a provider has a problem with the mail of a domain. No provider publishes such limits.
type degradeLimit struct {
	problem string
	fact    event.Type // about each affected recipient
	minimum int64      // affected recipients
	percent int64      // of recipients
	// excused are causes that say nothing about the sender.
	excused []bounce.Class
}

var degradeLimits = []degradeLimit{
	{event.MailRefused, event.EmailFailed, 20, 5,
		[]bounce.Class{"", bounce.BadAddress, bounce.BadDomain, bounce.MailboxFull, bounce.System}},
	{event.MailDeferred, event.EmailDeliveryDelayed, 50, 20,
		[]bounce.Class{"", bounce.BadAddress, bounce.BadDomain, bounce.MailboxFull, bounce.System, bounce.Greylist}},
}

// measure returns the number of affected recipients and of all.
func (l degradeLimit) measure(f statistics.Figures) (affected, recipients int64) {
	if affected = f.Failed; l.problem == event.MailDeferred {
		affected = f.Delayed
	}
	return affected, max(f.Recipients, f.Delivered+f.Bounced+f.Failed, affected)
}

func (l degradeLimit) isExceeded(affected, recipients int64) bool {
	return affected >= l.minimum && affected*100 >= l.percent*recipients
}

// isWorse reports whether the share is at least twice that of the week before.
func (l degradeLimit) isWorse(now, before statistics.Figures) bool {
	affected, recipients := l.measure(now)
	old, all := l.measure(before)
	return all < minHistory || affected*all >= 2*old*recipients
}

func (l degradeLimit) isRecovered(f statistics.Figures) bool {
	affected, recipients := l.measure(f)
	return recipients >= minHistory && affected*200 < l.percent*recipients
}

// providerTraffic is the mail to the domains of one provider.
type providerTraffic struct {
	figures statistics.Figures
	domains []string
}

// providerWatch finds providers that refuse or defer mail.
type providerWatch struct {
	db         *db.DB
	domains    Domains
	statistics Statistics
	publisher  Publisher
}

// WatchProviders publishes an event for each provider that starts to refuse or defer the mail of a domain. It does so
// again only after the provider has recovered. Several processes may call it concurrently: one does each part.
func (w *providerWatch) WatchProviders(ctx context.Context) error {
	const turn = "providers"
	if w.statistics == nil {
		return nil
	}
	after, ours, err := takeTurn(ctx, w.db, turn)
	if err != nil || !ours {
		return err
	}
	now, err := db.Now(ctx, w.db.SQL)
	if err != nil {
		return err
	}
	list, err := w.statistics.Senders(ctx, now.Add(-watchWindow), after, watchBatch)
	if err != nil {
		return fmt.Errorf("watch mailbox providers: %w", err)
	}
	var failed []error
	for _, sender := range list {
		if err := w.watchDomain(ctx, sender, now); err != nil {
			failed = append(failed, fmt.Errorf("watch the mailbox providers of %s: %w", sender.DomainID, err))
		}
	}
	wait, next := watchEvery, ""
	if len(list) == watchBatch {
		wait, next = 0, list[len(list)-1].DomainID
	}
	return errors.Join(append(failed, endTurn(ctx, w.db, turn, wait, next))...)
}

const (
	knownSQL   = `SELECT provider || ' ' || problem FROM degraded_providers WHERE domain_id = $1`
	degradeSQL = `
INSERT INTO degraded_providers (domain_id, provider, problem, data) VALUES ($1, $2, $3, $4::jsonb) ON CONFLICT DO NOTHING`
	recoverSQL = `
DELETE FROM degraded_providers WHERE domain_id = $1 AND provider = $2 AND problem = $3 AND created_at < now() - interval '` +
		recoveredAfter + `'`
)

func (w *providerWatch) watchDomain(ctx context.Context, sender statistics.Sender, now time.Time) error {
	recent, err := w.readProviders(ctx, sender, now.Add(-watchWindow), now)
	if err != nil {
		return err
	}
	known, err := db.All(ctx, w.db.SQL, db.Value[string], knownSQL, sender.DomainID)
	if err != nil {
		return err
	}
	history := sync.OnceValues(func() (map[string]providerTraffic, error) {
		return w.readProviders(ctx, sender, now.Add(-watchWindow-watchHistory), now.Add(-watchWindow))
	})
	for _, provider := range slices.Sorted(maps.Keys(recent)) {
		for _, l := range degradeLimits {
			isKnown := slices.Contains(known, provider+" "+l.problem)
			if err := w.checkProvider(ctx, degrading{sender: sender, provider: provider, limit: l, traffic: recent[provider],
				now: now}, isKnown, history); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkProvider records that a provider has a problem with the mail of a domain, or has recovered.
func (w *providerWatch) checkProvider(ctx context.Context, d degrading, isKnown bool,
	history func() (map[string]providerTraffic, error)) error {
	switch {
	case isKnown && d.limit.isRecovered(d.traffic.figures):
		_, err := db.Exec(ctx, w.db.SQL, recoverSQL, d.sender.DomainID, d.provider, d.limit.problem)
		return err
	case isKnown || !d.limit.isExceeded(d.limit.measure(d.traffic.figures)):
		return nil
	}
	before, err := history()
	d.before = before[d.provider].figures
	if err != nil || !d.limit.isWorse(d.traffic.figures, d.before) {
		return err
	}
	return w.degrade(ctx, d)
}

// readProviders returns the mail of a domain by provider.
func (w *providerWatch) readProviders(ctx context.Context, sender statistics.Sender,
	since, until time.Time) (map[string]providerTraffic, error) {
	answer, err := w.statistics.Query(ctx, sender.AccountID, statistics.Question{
		Range: statistics.Range{Since: since, Until: until}, Interval: statistics.Day, Timezone: "UTC",
		GroupBy: statistics.ByRecipientDomain, Top: watchTop, Filter: statistics.Filter{DomainID: sender.DomainID}})
	out := map[string]providerTraffic{}
	for _, g := range answer.Groups {
		provider := providerOf(g.Key)
		t := out[provider]
		t.figures.Add(g.Totals)
		t.domains = append(t.domains, g.Key)
		out[provider] = t
	}
	return out, err
}

// degrading is a provider that may have a problem with the mail of a domain.
type degrading struct {
	sender   statistics.Sender
	provider string
	limit    degradeLimit
	traffic  providerTraffic
	before   statistics.Figures
	now      time.Time
}

// degrade records the problem and publishes its event, unless the replies of the provider show another cause.
func (w *providerWatch) degrade(ctx context.Context, d degrading) error {
	replies, err := w.readReplies(ctx, d)
	if err != nil {
		return err
	}
	affected, recipients := d.limit.measure(d.traffic.figures)
	cause, share := mainCause(replies, d.limit.excused)
	if cause == "" || !d.limit.isExceeded(int64(share*float64(affected)), recipients) {
		return nil
	}
	domain, err := w.domains.Get(ctx, d.sender.AccountID, d.sender.DomainID)
	if err != nil {
		return err
	}
	old, all := d.limit.measure(d.before)
	e := event.Degradation{DomainID: domain.ID, Name: domain.Name, Provider: d.provider, Problem: d.limit.problem,
		Recipients: recipients, Affected: affected, Share: float64(affected) / float64(recipients),
		PreviousShare: float64(old) / float64(max(all, 1)), Cause: string(cause), Reply: exampleOf(replies, cause)}
	e.Reason, e.Fix = explainCause(cause)
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	published := false
	err = w.db.InTx(ctx, func(tx *ent.Tx) error {
		n, err := db.Exec(ctx, tx, degradeSQL, domain.ID, d.provider, d.limit.problem, string(data))
		if published = n == 1; err != nil || !published {
			return err
		}
		return w.publisher.Publish(ctx, tx, event.New(d.sender.AccountID, event.DomainDeliverabilityDegraded, d.now, e))
	})
	if err == nil && published {
		w.publisher.Wake()
	}
	return err
}

// reply is what a provider replied for one recipient.
type reply struct {
	class           bounce.Class
	text, recipient string
}

const (
	repliesFacts = 20_000 // newest events of the account that are searched for replies
	repliesMost  = 200

	repliesSQL = `
SELECT t.class, t.reply, f.recipient
  FROM (SELECT subject_id, type, coalesce(data->>'recipient', '') AS recipient FROM facts WHERE account_id = $1 AND id >= $2 ORDER BY id DESC LIMIT $6) f
  JOIN emails m ON m.id = f.subject_id AND m.account_id = $1 AND m.domain_id = $3,
	LATERAL (SELECT t.class, t.reply FROM recipients p JOIN attempts t ON t.email_id = p.email_id AND t.recipient_id = p.id
		WHERE p.email_id = m.id AND p.address = f.recipient AND t.class <> '' ORDER BY t.id DESC LIMIT 1) t
 WHERE f.type = $4 AND lower(substring(f.recipient FROM '[^@]*$')) = ANY($5::text[]) LIMIT $7`
)

// readReplies returns the newest replies with the problem.
func (w *providerWatch) readReplies(ctx context.Context, d degrading) ([]reply, error) {
	return db.All(ctx, w.db.SQL, func(r *reply) []any { return []any{&r.class, &r.text, &r.recipient} }, repliesSQL,
		d.sender.AccountID, id.Since(id.Fact, d.now.Add(-watchWindow)), d.sender.DomainID, string(d.limit.fact),
		db.Array(d.traffic.domains), repliesFacts, repliesMost)
}

// mainCause returns the most frequent cause that concerns the sender, and the share of the replies with such a cause.
func mainCause(replies []reply, excused []bounce.Class) (cause bounce.Class, share float64) {
	counts, concerned := map[bounce.Class]int{}, 0
	for _, r := range replies {
		if slices.Contains(excused, r.class) {
			continue
		}
		concerned++
		if counts[r.class]++; counts[r.class] > counts[cause] || counts[r.class] == counts[cause] && r.class < cause {
			cause = r.class
		}
	}
	return cause, float64(concerned) / float64(max(len(replies), 1))
}

// exampleOf returns the newest reply with a cause that names no recipient.
func exampleOf(replies []reply, cause bounce.Class) string {
	for _, r := range replies {
		if r.class == cause {
			if words := bounce.RedactReply(r.text, r.recipient); words != "" {
				return words
			}
		}
	}
	return ""
}

// causes explain why a provider refuses or defers mail.
var causes = map[bounce.Class]struct{ reason, fix string }{
	bounce.Block: {"The provider distrusts this domain or its source addresses.",
		"Look for blocklist entries and complaints, stop mail that recipients do not expect, then ask the provider to lift the block."},
	bounce.Throttle: {"The provider limits how much mail it accepts from this domain or its source addresses.",
		"Send less mail per hour to this provider, and increase the volume gradually."},
	bounce.Greylist: {"The provider asks unknown senders to try again later.",
		"Wait: Postrider tries again. If it continues, make sure that each source address has a reverse name."},
	bounce.Size: {"The messages are too large for the provider.", "Send links instead of large attachments."},
	bounce.Content: {"The provider considers the content spam or dangerous.",
		"Check the newest template or campaign with POST /emails/check, and remove suspicious links and attachments."},
	bounce.Policy: {"The mail fails the provider's rules, often SPF, DKIM or DMARC.",
		"Verify the DNS records of the domain, and fix the requirements that are not met."},
	bounce.Challenge: {"The provider asks the sender for a confirmation.",
		"Follow the link in the reply, or ask the recipients to allow your address."},
	bounce.BadAddress:  {"The addresses do not exist.", "Remove addresses that bounce, and confirm new addresses before you send to them."},
	bounce.BadDomain:   {"The domain of the recipients does not exist or accepts no mail.", "Correct the addresses, or remove them."},
	bounce.MailboxFull: {"The mailboxes of the recipients are full.", "Nothing: Postrider tries again, and later mail may be delivered."},
	bounce.System:      {"The provider has a technical problem.", "Nothing: Postrider tries again."},
	bounce.Unknown:     {"The provider did not say why.", "Read the replies, and ask the provider if they do not help."},
}

func explainCause(class bounce.Class) (reason, fix string) {
	e, known := causes[class]
	if !known {
		e = causes[bounce.Unknown]
	}
	return e.reason, e.fix
}

// Degradation is a provider that refuses or defers the mail of a domain, with the figures of when it started.
type Degradation struct {
	event.Degradation

	Since time.Time
}

const degradationsSQL = `SELECT domain_id, data::text, created_at FROM degraded_providers WHERE domain_id = ANY($1) ORDER BY created_at DESC, id DESC`

// readDegradations reads the current problems of domains into their summaries.
func (s *Service) readDegradations(ctx context.Context, p period, all map[string]*Summary) error {
	found, err := readByDomain(ctx, s.db, func(d *Degradation) []any {
		return []any{db.ScanJSON(&d.Degradation), &d.Since}
	}, degradationsSQL, p.domainIDs)
	for domainID, out := range all {
		out.Degradations = found[domainID]
	}
	return err
}
