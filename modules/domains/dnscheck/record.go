package dnscheck

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// Purpose is the purpose of a record.
type Purpose string

// The purposes, in display order.
const (
	Ownership  Purpose = "ownership"
	DKIM       Purpose = "dkim"
	ReturnPath Purpose = "return_path"
	SPF        Purpose = "spf"
	DMARC      Purpose = "dmarc"
	InboundMX  Purpose = "inbound_mx"
	TLSReports Purpose = "tls_reports"
	BIMI       Purpose = "bimi"
	MTASTS     Purpose = "mta_sts"
	MTASTSHost Purpose = "mta_sts_host"
)

// isRequired reports whether a domain must publish the record to be verified.
func (p Purpose) isRequired() bool {
	return p == Ownership || p == DKIM || p == ReturnPath || p == SPF
}

// Status is the last known state of a record in DNS.
type Status string

// The states of a record.
const (
	Missing  Status = "missing"
	Mismatch Status = "mismatch"
	Verified Status = "verified"
)

// RecordCheck is a DNS record that a domain must publish, and its status.
type RecordCheck struct {
	Purpose  Purpose
	Selector string // for DKIM only: which of the domain's keys
	Type     string // TXT, CNAME, MX
	Name     string // absolute, without the final dot
	Value    string // value to publish, unquoted
	Priority *int   // for MX only
	TTL      int    // suggested, in seconds
	Required bool   // required for verification
	Status   Status
	Found    []string // the value found by the last check
	Error    string   // one sentence on what to do; empty if verified

	Findings []shape.RecordFinding // for BIMI only, of the last check
}

const (
	ownershipLabel  = "_service."
	returnPathLabel = "rp."
	dmarcLabel      = "_dmarc."
	tlsReportsLabel = "_smtp._tls."
	recordTTL       = 3600

	inboundPreference = 10 // preference of the MX record
	ownershipPrefix   = "postrider-verification="
)

// NotChecked is the advice for a record before its first check.
const NotChecked = "Not checked yet: publish this record, then verify the domain."

// Proof is the record with which an account proves control of a name that another account has verified. It is
// published next to the ownership record of the other account.
func Proof(name, value string) RecordCheck {
	return RecordCheck{Purpose: Ownership, Type: "TXT", Name: ownershipLabel + name, Value: value, TTL: recordTTL,
		Required: true, Status: Missing, Found: []string{}}
}

// Hosts are the names of this installation that the records of domains point to.
type Hosts struct {
	ReturnPath string // target of the rp CNAME
	OwnTargets bool   // show each domain a target of its own, below ReturnPath
	SPFInclude string // host of the SPF include
	Inbound    string // target of the MX record; empty if the domain does not receive mail here
	Policies   string // target of the mta-sts CNAME; empty if no policies are served here
	Reports    string // address for DMARC and TLS reports; empty if they are not received here
}

// Set contains everything that determines which records a domain must publish.
type Set struct {
	name           string
	ownershipToken string
	keys           []*ent.DKIMKey // sorted by InOrder
	returnPathHost string
	ownTarget      string // target of this domain alone; may be empty
	shownTarget    string // ownTarget or returnPathHost
	spfInclude     string
	inboundHost    string // empty if the domain does not receive mail here
	reportAddress  string // empty if reports are not received here
	bimi           bimiRecord
	mtaSTS         domain.MtaSts
	policyTarget   string // empty if policies are not served here
}

// NewSet returns the set of a domain that was loaded with its keys.
func NewSet(d *ent.Domain, hosts Hosts) Set {
	own, shown := returnPathTargets(d, hosts)
	return Set{name: d.Name, ownershipToken: d.OwnershipToken, keys: InOrder(d.Edges.Keys),
		returnPathHost: dnsx.CanonicalName(hosts.ReturnPath), ownTarget: own, shownTarget: shown,
		spfInclude:  dnsx.CanonicalName(hosts.SPFInclude),
		inboundHost: dnsx.CanonicalName(hosts.Inbound), reportAddress: hosts.Reports,
		bimi: bimiRecord{d.BimiLogoURL, d.BimiCertificateURL}, mtaSTS: d.MtaSts, policyTarget: dnsx.CanonicalName(hosts.Policies)}
}

// dmarcValue returns the proposed DMARC record.
func (e Set) dmarcValue() string {
	if e.reportAddress == "" {
		return "v=DMARC1; p=none;"
	}
	return "v=DMARC1; p=none; rua=mailto:" + e.reportAddress
}

// wantsTLSReports reports whether senders should report about TLS (RFC 8460). The reports are about mail that the
// domain receives here.
func (e Set) wantsTLSReports() bool { return e.inboundHost != "" && e.reportAddress != "" }

// tlsReportsValue returns the proposed record of RFC 8460 section 3.
func (e Set) tlsReportsValue() string { return "v=TLSRPTv1; rua=mailto:" + e.reportAddress }

// SPFInclude returns the host that the SPF record of the domain must include.
func (e Set) SPFInclude() string { return e.spfInclude }

func (e Set) dkimName(k *ent.DKIMKey) string { return dkim.RecordName(k.Selector, e.name) }

// records returns the records to publish, without their status.
func (e Set) records() []RecordCheck {
	records := []RecordCheck{
		{Purpose: Ownership, Type: "TXT", Name: ownershipLabel + e.name, Value: ownershipPrefix + e.ownershipToken, TTL: recordTTL, Required: true},
	}
	for _, k := range e.keys {
		records = append(records, RecordCheck{Purpose: DKIM, Selector: k.Selector, Type: "TXT", Name: e.dkimName(k),
			Value: dkim.Record(string(k.Algorithm), k.PublicKey), TTL: recordTTL, Required: signsRSA(k)})
	}
	records = append(records, []RecordCheck{
		{Purpose: ReturnPath, Type: "CNAME", Name: returnPathLabel + e.name, Value: e.shownTarget, TTL: recordTTL, Required: true},
		{Purpose: SPF, Type: "TXT", Name: e.name, Value: "v=spf1 include:" + e.spfInclude + " ~all", TTL: recordTTL, Required: true},
		{Purpose: DMARC, Type: "TXT", Name: dmarcLabel + e.name, Value: e.dmarcValue(), TTL: recordTTL},
	}...)
	if e.inboundHost != "" {
		preference := inboundPreference
		records = append(records, RecordCheck{Purpose: InboundMX, Type: "MX", Name: e.name, Value: e.inboundHost,
			Priority: &preference, TTL: recordTTL})
	}
	if e.wantsTLSReports() {
		records = append(records, RecordCheck{Purpose: TLSReports, Type: "TXT", Name: tlsReportsLabel + e.name,
			Value: e.tlsReportsValue(), TTL: recordTTL})
	}
	if e.hostsPolicy() {
		records = append(records,
			RecordCheck{Purpose: MTASTSHost, Type: "CNAME", Name: policyHostLabel + e.name, Value: e.policyTarget, TTL: recordTTL},
			RecordCheck{Purpose: MTASTS, Type: "TXT", Name: mtaSTSLabel + e.name, Value: e.mtaSTSValue(), TTL: recordTTL})
	}
	if e.bimi.logo != "" {
		records = append(records, RecordCheck{Purpose: BIMI, Type: "TXT", Name: bimiLabel + e.name, Value: e.bimiValue(),
			TTL: recordTTL})
	}
	return records
}

// RecordChecks returns the records of the set with the results of the domain's last check.
func (e Set) RecordChecks(d *ent.Domain) []RecordCheck {
	records := e.records()
	for i := range records {
		r := &records[i]
		r.Found = []string{}
		if d.Seeded {
			r.Status = Verified
			continue
		}
		r.Status, r.Error = Missing, NotChecked
		for _, state := range d.Records {
			if state.Purpose == string(r.Purpose) && state.Selector == r.Selector {
				r.Status, r.Error = Status(state.Status), state.Error
				r.Found, r.Findings = append(r.Found, state.Found...), state.Findings
			}
		}
	}
	return records
}
