package event

// Domain is the payload of the domain events.
type Domain struct {
	DomainID string `json:"domain_id" doc:"The ID of the domain."`
	Name     string `json:"name" doc:"The name of the domain."`
	Status   string `json:"status" doc:"Status after the event: pending, verified, temporary_failure or failed."`
}

// SubjectID returns the domain.
func (d Domain) SubjectID() string { return d.DomainID }

// DomainUpdate is the payload of domain.updated: the settings after the change.
type DomainUpdate struct {
	Domain

	OpenTracking       bool     `json:"open_tracking" doc:"The setting after the change."`
	ClickTracking      bool     `json:"click_tracking" doc:"Whether clicks are tracked."`
	TLSMode            string   `json:"tls_mode" doc:"opportunistic or enforced."`
	InboundEnabled     bool     `json:"inbound_enabled" doc:"Whether the domain receives mail."`
	Ed25519            bool     `json:"ed25519" doc:"Whether mail is signed by an Ed25519 key as well."`
	MTASTS             string   `json:"mta_sts" doc:"Mode of the MTA-STS policy: off, none, testing or enforce."`
	BIMILogoURL        string   `json:"bimi_logo_url" doc:"URL of the logo in the proposed BIMI record. Empty if no record is proposed."`
	BIMICertificateURL string   `json:"bimi_certificate_url" doc:"URL of the mark certificate in the proposed BIMI record. Empty if there is none."`
	Changed            []string `json:"changed" nullable:"false" doc:"Names of the settings that were changed."`
}

// DomainKey is the payload of domain.dkim_rotated.
type DomainKey struct {
	DomainID         string `json:"domain_id" doc:"The ID of the domain."`
	Name             string `json:"name" doc:"The name of the domain."`
	Selector         string `json:"selector" doc:"Selector of the new signing key."`
	Algorithm        string `json:"algorithm" doc:"rsa-sha256 or ed25519-sha256."`
	PreviousSelector string `json:"previous_selector" doc:"Selector of the previous key. Its record must stay published for 7 days."`
}

// SubjectID returns the domain.
func (k DomainKey) SubjectID() string { return k.DomainID }

// DomainClaim is the payload of domain.claim_started.
type DomainClaim struct {
	ClaimID   string `json:"claim_id" doc:"ID of the claim, for GET /domains/claims/{id}."`
	Name      string `json:"name" doc:"The name of the domain."`
	ExpiresAt Time   `json:"expires_at" doc:"When the claim expires."`
}

// SubjectID returns the claim.
func (c DomainClaim) SubjectID() string { return c.ClaimID }

// The problems of a Degradation.
const (
	MailRefused  = "refused"
	MailDeferred = "deferred"
)

// Degradation is the payload of domain.deliverability_degraded.
type Degradation struct {
	DomainID      string  `json:"domain_id" doc:"The ID of the domain."`
	Name          string  `json:"name" doc:"The name of the domain."`
	Provider      string  `json:"provider" doc:"Mailbox provider, such as Gmail, or the domain of the recipients."`
	Problem       string  `json:"problem" doc:"refused or deferred."`
	Recipients    int64   `json:"recipients" doc:"Recipients at the provider in the last 24 hours."`
	Affected      int64   `json:"affected" doc:"Recipients that were refused or deferred."`
	Share         float64 `json:"share" doc:"Affected recipients as a share of all: 0.4 means 40 %."`
	PreviousShare float64 `json:"previous_share" doc:"The same share in the 7 days before."`
	Cause         string  `json:"cause" doc:"Class of the most frequent reply: block, throttle, greylist, size, content, policy, challenge or unknown."`
	Reason        string  `json:"reason" doc:"The likely cause, in one sentence."`
	Fix           string  `json:"fix" doc:"What to do, in one or two sentences."`
	Reply         string  `json:"reply" doc:"A reply of the provider with this cause, without addresses. Empty if it may name a recipient."`
}

// SubjectID returns the domain.
func (d Degradation) SubjectID() string { return d.DomainID }

func sampleDegradation() Degradation {
	return Degradation{DomainID: sampleDomain("").DomainID, Name: "example.com", Provider: "Gmail", Problem: MailDeferred,
		Recipients: 1200, Affected: 540, Share: 0.45, PreviousShare: 0.01, Cause: "throttle",
		Reason: "The provider limits how much mail it accepts from this domain or its source addresses.",
		Fix:    "Send less mail per hour to this provider, and increase the volume gradually.",
		Reply:  "421 4.7.28 Our system has detected an unusual rate of unsolicited mail."}
}

func sampleDomain(status string) Domain {
	return Domain{DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com", Status: status}
}

func sampleDomainUpdate() DomainUpdate {
	return DomainUpdate{Domain: sampleDomain("verified"), OpenTracking: true, TLSMode: "opportunistic",
		Changed: []string{"open_tracking"}}
}
