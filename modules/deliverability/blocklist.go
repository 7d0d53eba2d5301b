package deliverability

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
)

// The states of a lookup in a blocklist.
const (
	blocklistListed  = "listed"
	blocklistClear   = "clear"
	blocklistRefused = "refused" // the list does not answer this resolver
	blocklistBroken  = "broken"  // the answer cannot come from the list
	blocklistUnknown = "unknown" // no answer
)

// blocklist is a DNS list (RFC 5782).
type blocklist struct {
	zone    string
	domains bool   // lists domains, not addresses
	page    string // where a listing is looked up and removed; empty if unknown
}

// knownBlocklists are lists with a page for removals.
var knownBlocklists = []blocklist{
	{"bl.spamcop.net", false, "https://www.spamcop.net/bl.shtml"}, {"psbl.surriel.com", false, "https://psbl.org/"},
	{"zen.spamhaus.org", false, "https://check.spamhaus.org/"}, {"dbl.spamhaus.org", true, "https://check.spamhaus.org/"},
	{"b.barracudacentral.org", false, "https://www.barracudacentral.org/rbl/removal-request"},
	{"dnsbl-1.uceprotect.net", false, "https://www.uceprotect.net/en/rblcheck.php"},
	{"multi.surbl.org", true, "https://surbl.org/surbl-analysis"}, {"multi.uribl.com", true, "https://lookup.uribl.com/"},
}

const domainPrefix = "domain:"

// newBlocklist returns the list with a zone of the setting.
func newBlocklist(zone string) blocklist {
	name, domains := strings.CutPrefix(zone, domainPrefix)
	for _, known := range knownBlocklists {
		if name == known.zone || strings.HasSuffix(name, "."+known.zone) { // with a key before it
			return blocklist{name, known.domains, known.page}
		}
	}
	return blocklist{zone: name, domains: domains}
}

const maxBlocklists = 20

// parseZones parses the setting.
func parseZones(text string) ([]string, error) {
	if text == "none" {
		return nil, nil
	}
	list := setting.List(text)
	var wrong []error
	for _, zone := range list {
		if _, err := setting.ParseHost(strings.TrimPrefix(zone, domainPrefix)); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(list) > maxBlocklists {
		wrong = append(wrong, fmt.Errorf("has %d lists, more than %d", len(list), maxBlocklists))
	}
	return list, errors.Join(wrong...)
}

// query returns the name under which the list has a subject.
func (b blocklist) query(subject string) string {
	addr, err := netip.ParseAddr(subject)
	if err != nil {
		return subject + "." + b.zone
	}
	labels := strings.Split(subject, ".")
	if addr.Is6() {
		labels = strings.Split(strings.ReplaceAll(addr.StringExpanded(), ":", ""), "")
	}
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "." + b.zone
}

// control returns a name that no list contains (RFC 5782 section 5). A zone that has it answers for everything.
func (b blocklist) control() string {
	if b.domains {
		return b.query("invalid")
	}
	return b.query("127.0.0.1")
}

var (
	listReplies    = netip.MustParsePrefix("127.0.0.0/8")
	refusalReplies = netip.MustParsePrefix("127.255.255.0/24") // Spamhaus: typing error, public resolver, too many queries
	accessDenied   = netip.MustParseAddr("127.0.0.1")          // SURBL and URIBL: the resolver is blocked
)

// readReply returns the state that the answer of a list means.
func readReply(found []netip.Addr, err error) string {
	switch {
	case errors.Is(err, dnsx.ErrNotFound):
		return blocklistClear
	case err != nil || len(found) == 0:
		return blocklistUnknown
	}
	state := blocklistListed
	for _, addr := range found {
		switch {
		case !listReplies.Contains(addr):
			return blocklistBroken
		case refusalReplies.Contains(addr) || addr == accessDenied:
			state = blocklistRefused
		}
	}
	return state
}

// blocklistLookups looks up source addresses and domains in blocklists.
type blocklistLookups struct {
	names      *sourceNames
	watch      *providerWatch
	blocklists []blocklist
}

// lookUpListing looks up a subject, and returns the state and the list's reply. A listing counts only if the list does
// not answer for everything.
func (b *blocklistLookups) lookUpListing(ctx context.Context, list blocklist, subject string) (state, reply string) {
	ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	found, err := b.names.dns.LookupIPv4(ctx, list.query(subject))
	if state = readReply(found, err); len(found) > 0 {
		reply = found[0].String()
	}
	if state != blocklistListed {
		return state, reply
	}
	switch control := readReply(b.names.dns.LookupIPv4(ctx, list.control())); control {
	case blocklistClear:
		return state, reply
	case blocklistUnknown, blocklistRefused:
		return control, reply
	}
	return blocklistBroken, reply
}

const (
	blocklistEvery = 10 * time.Minute
	// blocklistBatch bounds the lookups per step, and blocklistDomains the domains that a step looks at.
	blocklistBatch   = 60
	blocklistDomains = 200
	maxSendingAddrs  = 200

	// dueListingsSQL selects the pairs of a subject and a list that were not looked up for a day, or a listing for six
	// hours.
	dueListingsSQL = `
SELECT x.subject, x.list FROM unnest($1::text[], $2::text[]) AS x (subject, list) LEFT JOIN blocklist_lookups b USING (subject, list)
 WHERE b.checked_at IS NULL OR b.checked_at < now() - CASE WHEN b.status = 'listed' THEN interval '6 hours' ELSE interval '1 day' END
 ORDER BY b.checked_at NULLS FIRST, x.list, x.subject LIMIT $3`

	// refusedSQL selects the lists that refused a lookup within a day: further ones would make it worse.
	refusedSQL = `SELECT DISTINCT list FROM blocklist_lookups WHERE status IN ('refused', 'broken') AND checked_at > now() - interval '1 day'`

	listingSQL = `
INSERT INTO blocklist_lookups AS b (subject, list, status, reply, checked_at, listed_at)
VALUES ($1, $2, $3::text, $4, now(), CASE WHEN $3::text = 'listed' THEN now() END)
ON CONFLICT (subject, list) DO UPDATE SET status = EXCLUDED.status, reply = EXCLUDED.reply, checked_at = EXCLUDED.checked_at,
	listed_at = CASE WHEN EXCLUDED.status = 'listed' THEN coalesce(b.listed_at, now()) END`
)

// CheckBlocklists looks up source addresses and sending domains in the lists that the operator chose. Several processes
// may call it concurrently: one does each part.
func (b *blocklistLookups) CheckBlocklists(ctx context.Context) error {
	const turn = "blocklists"
	if len(b.blocklists) == 0 {
		return nil
	}
	after, ours, err := takeTurn(ctx, b.names.db, turn)
	if err != nil || !ours {
		return err
	}
	now, err := db.Now(ctx, b.names.db.SQL)
	if err != nil {
		return err
	}
	addrs, err := b.names.readSendingAddresses(ctx)
	if err != nil {
		return err
	}
	var senders []statistics.Sender
	if b.watch.statistics != nil {
		if senders, err = b.watch.statistics.Senders(ctx, now.AddDate(0, 0, -7), after, blocklistDomains); err != nil {
			return err
		}
	}
	domains, err := b.readNames(ctx, senders)
	if err != nil {
		return err
	}
	if err := b.lookUpListings(ctx, addrs, domains); err != nil {
		return fmt.Errorf("blocklists: %w", err)
	}
	next := ""
	if len(senders) == blocklistDomains {
		next = senders[len(senders)-1].DomainID
	}
	return endTurn(ctx, b.names.db, turn, blocklistEvery, next)
}

func (b *blocklistLookups) readNames(ctx context.Context, senders []statistics.Sender) ([]string, error) {
	var ids []string
	for _, sender := range senders {
		ids = append(ids, sender.DomainID)
	}
	return db.All(ctx, b.names.db.SQL, db.Value[string], `SELECT DISTINCT name FROM domains WHERE id = ANY($1)`, db.Array(ids))
}

// lookUpListings looks up the subjects that are due. A list that refuses a lookup gets no further ones for a day.
func (b *blocklistLookups) lookUpListings(ctx context.Context, addrs, domains []string) error {
	refused, err := db.All(ctx, b.names.db.SQL, db.Value[string], refusedSQL)
	if err != nil {
		return err
	}
	lists := map[string]blocklist{}
	var subjects, zones []string
	for _, list := range b.blocklists {
		if slices.Contains(refused, list.zone) {
			continue // otherwise its subjects, which stay due, would fill the batch
		}
		lists[list.zone] = list
		of := addrs
		if list.domains {
			of = domains
		}
		for _, subject := range of {
			subjects, zones = append(subjects, subject), append(zones, list.zone)
		}
	}
	type pair struct{ subject, zone string }
	due, err := db.All(ctx, b.names.db.SQL, func(p *pair) []any { return []any{&p.subject, &p.zone} }, dueListingsSQL,
		db.Array(subjects), db.Array(zones), blocklistBatch)
	for _, p := range due {
		if slices.Contains(refused, p.zone) {
			continue
		}
		state, reply := b.lookUpListing(ctx, lists[p.zone], p.subject)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if state == blocklistRefused || state == blocklistBroken {
			refused = append(refused, p.zone)
		}
		if _, err := b.names.db.SQL.ExecContext(ctx, listingSQL, p.subject, p.zone, state, reply); err != nil {
			return err
		}
	}
	return err
}

// Listing is what a blocklist says about a source address or the domain.
type Listing struct {
	Subject, List string
	Status        string
	Reply         string // address that the list returned; empty if it returned none
	CheckedAt     time.Time
	ListedSince   *time.Time // first lookup with the listing; nil unless listed
	Found, Fix    string     // one sentence each; Fix is empty if nothing is needed
	Page          string     // where a listing is looked up and removed; empty if unknown
}

const listingsSQL = `
SELECT subject, list, status, reply, checked_at, listed_at FROM blocklist_lookups WHERE subject = ANY($1::text[]) AND list = ANY($2::text[])
 ORDER BY status <> 'listed', list, subject LIMIT 100`

// readListings returns the lookups of subjects in the chosen lists, listings first.
func (b *blocklistLookups) readListings(ctx context.Context, subjects []string) ([]Listing, error) {
	var zones []string
	for _, list := range b.blocklists {
		zones = append(zones, list.zone)
	}
	found, err := db.All(ctx, b.names.db.SQL, func(l *Listing) []any {
		return []any{&l.Subject, &l.List, &l.Status, &l.Reply, &l.CheckedAt, &l.ListedSince}
	}, listingsSQL, db.Array(subjects), db.Array(zones))
	for i := range found {
		found[i].Page = newBlocklist(found[i].List).page
		found[i].explain()
	}
	return found, err
}

func (l *Listing) explain() {
	switch l.Status {
	case blocklistListed:
		l.Found = l.Subject + " is listed in " + l.List + "."
		l.Fix = "Find and stop the mail that caused the listing, then ask the list to remove it."
	case blocklistClear:
		l.Found = l.Subject + " is not listed in " + l.List + "."
	case blocklistRefused:
		l.Found = l.List + " does not answer the DNS resolver of this installation, so it is unknown whether " + l.Subject + " is listed."
		l.Fix = "The operator must use a resolver of their own, register with the list, or remove it from POSTRIDER_BLOCKLISTS."
	case blocklistBroken:
		l.Found = "The answer " + l.Reply + " does not come from " + l.List + ", or the list answers for everything."
		l.Fix = "The operator must use a resolver that does not change answers, or remove the list from POSTRIDER_BLOCKLISTS."
	default:
		l.Found = l.List + " did not answer."
	}
}
