package shape

// Authentication has the results of authenticating the sender of a received message. Results are those of RFC
// 8601 section 2.7: pass, fail, softfail, neutral, none,
// temperror, permerror, policy.
type Authentication struct {
	SPF         string   `json:"spf"`   // result for the envelope sender, or for the EHLO name if the sender is null
	DKIM        string   `json:"dkim"`  // the best of its signatures, an aligned one first
	DMARC       string   `json:"dmarc"` // result for the domain in From
	IPRev       string   `json:"iprev"` // RFC 8601 section 3
	SPFDomain   string   `json:"spf_domain,omitempty"`
	DKIMDomains []string `json:"dkim_domains,omitempty"` // d= of signatures that pass
	DMARCPolicy string   `json:"dmarc_policy,omitempty"` // published: none, quarantine, reject
	ReverseName string   `json:"reverse_name,omitempty"` // verified reverse name of the address
}

// ReceivedFile is a file of a received message, without its bytes.
type ReceivedFile struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	ContentID   string `json:"content_id,omitempty"` // without angle brackets
	Inline      bool   `json:"inline,omitempty"`
	Size        int64  `json:"size"` // decoded size in bytes
}

// AddressRule decides about the addresses of a domain that it matches.
type AddressRule struct {
	Match  string `json:"match"`  // local part; * matches any characters
	Action string `json:"action"` // accept, reject
}
