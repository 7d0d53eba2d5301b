package domains

import (
	"strings"
	"unicode"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/dkim"
)

// Purpose says what a record is for.
type Purpose string

// The purposes, in the order in which records are shown.
const (
	Ownership  Purpose = "ownership"
	DKIM       Purpose = "dkim"
	ReturnPath Purpose = "return_path"
	SPF        Purpose = "spf"
	DMARC      Purpose = "dmarc"
	InboundMX  Purpose = "inbound_mx"
)

// required tells whether a domain has to publish the record to be verified.
func (p Purpose) required() bool { return p != DMARC && p != InboundMX }

// RecordStatus is what DNS last said of a record.
type RecordStatus string

// The states of a record.
const (
	Missing  RecordStatus = "missing"
	Mismatch RecordStatus = "mismatch"
	Verified RecordStatus = "verified"
)

// Record is one DNS record that a domain has to publish, and how it stands.
type Record struct {
	Purpose  Purpose
	Selector string // of DKIM only: which key, see Keys
	Type     string // TXT, CNAME, MX
	Name     string // in full, without final dot
	Value    string // what to publish, unquoted
	Priority *int   // MX only
	TTL      int    // proposed, in seconds
	Required bool   // for verification
	Status   RecordStatus
	Found    []string // what was there at the last check
	Error    string   // one sentence on what to do; empty when verified
}

const (
	ownershipLabel  = "_service."
	returnPathLabel = "rp."
	dmarcLabel      = "_dmarc."
	recordTTL       = 3600

	inboundPreference = 10 // of the MX record
	ownershipPrefix   = "postrider-verification="
	notChecked        = "Not checked yet: publish this record, then verify the domain."
)

// expectation is everything that decides which records a domain publishes.
type expectation struct {
	name           string
	ownershipToken string
	keys           []*ent.DKIMKey // in the order of inOrder
	returnPathHost string
	spfInclude     string
	inboundHost    string // empty: mail to the domain is not received here
}

func (s *Service) expect(d *ent.Domain) expectation {
	e := expectation{name: d.Name, ownershipToken: d.OwnershipToken, keys: inOrder(d.Edges.Keys),
		returnPathHost: canonical(s.config.ReturnPathHost), spfInclude: canonical(s.config.SPFInclude)}
	// An MX record that led here before the domain is verified would lose its mail.
	if d.InboundEnabled && Sends(d.Status) {
		e.inboundHost = canonical(s.config.SMTPHost)
	}
	return e
}

func (e expectation) dkimName(k *ent.DKIMKey) string { return dkim.RecordName(k.Selector, e.name) }

// records lists what to publish, without any state.
func (e expectation) records() []Record {
	records := []Record{
		{Purpose: Ownership, Type: "TXT", Name: ownershipLabel + e.name, Value: ownershipPrefix + e.ownershipToken, TTL: recordTTL, Required: true},
	}
	for _, k := range e.keys {
		records = append(records, Record{Purpose: DKIM, Selector: k.Selector, Type: "TXT", Name: e.dkimName(k),
			Value: dkim.Record(string(k.Algorithm), k.PublicKey), TTL: recordTTL, Required: signsRSA(k)})
	}
	records = append(records, []Record{
		{Purpose: ReturnPath, Type: "CNAME", Name: returnPathLabel + e.name, Value: e.returnPathHost, TTL: recordTTL, Required: true},
		{Purpose: SPF, Type: "TXT", Name: e.name, Value: "v=spf1 include:" + e.spfInclude + " ~all", TTL: recordTTL, Required: true},
		{Purpose: DMARC, Type: "TXT", Name: dmarcLabel + e.name, Value: "v=DMARC1; p=none;", TTL: recordTTL},
	}...)
	if e.inboundHost != "" {
		preference := inboundPreference
		records = append(records, Record{Purpose: InboundMX, Type: "MX", Name: e.name, Value: e.inboundHost, Priority: &preference, TTL: recordTTL})
	}
	return records
}

// Records lists the domain's DNS records with what the last check saw.
func (s *Service) Records(d *ent.Domain) []Record {
	records := s.expect(d).records()
	for i := range records {
		r := &records[i]
		r.Found = []string{}
		if d.Seeded {
			r.Status = Verified
			continue
		}
		r.Status, r.Error = Missing, notChecked
		for _, state := range d.Records {
			if state.Purpose == string(r.Purpose) && state.Selector == r.Selector {
				r.Status, r.Error = RecordStatus(state.Status), state.Error
				r.Found = append(r.Found, state.Found...)
			}
		}
	}
	return records
}

// Sends tells whether a status may send.
func Sends(status domain.Status) bool {
	return status == domain.StatusVerified || status == domain.StatusTemporaryFailure
}

// observation is what one check saw of one record. An unanswered one says
// nothing and keeps the state as it was.
type observation struct {
	purpose    Purpose
	selector   string // of DKIM only
	optional   bool   // verification does not depend on this one, though it does on its purpose
	status     RecordStatus
	found      []string
	advice     string // one sentence; empty when verified
	unanswered bool
	operators  bool // what is wrong is a record of the installation itself
}

// required tells whether the domain can be verified without the record.
func (o observation) required() bool { return o.purpose.required() && !o.optional }

// merge gives the states after a check: what answered replaces what was known.
func merge(known []shape.RecordState, seen []observation) []shape.RecordState {
	merged := make([]shape.RecordState, 0, len(seen))
	for _, o := range seen {
		state := shape.RecordState{Purpose: string(o.purpose), Selector: o.selector, Status: string(o.status), Found: clip(o.found), Error: clean(o.advice)}
		if o.unanswered {
			state.Status, state.Found, state.Error = string(Missing), []string{}, o.advice
			for _, k := range known {
				if k.Purpose == state.Purpose && k.Selector == state.Selector {
					state = k
				}
			}
		}
		merged = append(merged, state)
	}
	return merged
}

// clip bounds what a stranger's zone can make us store.
func clip(found []string) []string {
	const maxValues = 10
	out := make([]string, 0, min(len(found), maxValues))
	for _, value := range found[:min(len(found), maxValues)] {
		out = append(out, clean(value))
	}
	return out
}

// clean makes text with a stranger's octets in it fit for a JSON column, which
// takes neither NUL nor broken UTF-8, and for one line of a page.
func clean(text string) string {
	const maxLength = 1000
	if len(text) > maxLength {
		text = text[:maxLength] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
