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

	OpenTracking   bool     `json:"open_tracking" doc:"The setting after the change."`
	ClickTracking  bool     `json:"click_tracking" doc:"Whether clicks are tracked."`
	TLSMode        string   `json:"tls_mode" doc:"opportunistic or enforced."`
	InboundEnabled bool     `json:"inbound_enabled" doc:"Whether the domain receives mail."`
	Ed25519        bool     `json:"ed25519" doc:"Whether mail is signed by an Ed25519 key as well."`
	Changed        []string `json:"changed" nullable:"false" doc:"Names of the settings that were changed."`
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

func sampleDomain(status string) Domain {
	return Domain{DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com", Status: status}
}

func sampleDomainUpdate() DomainUpdate {
	return DomainUpdate{Domain: sampleDomain("verified"), OpenTracking: true, TLSMode: "opportunistic",
		Changed: []string{"open_tracking"}}
}
