package smtpclient

// TLSPolicy says whose demand decided about TLS with a mail host.
type TLSPolicy string

// The policies. Where several apply, the later in this list decides.
const (
	PolicyNone          TLSPolicy = ""              // nothing was dialled, or a smarthost without demands
	PolicyOpportunistic TLSPolicy = "opportunistic" // TLS if it can be had
	PolicySTS           TLSPolicy = "mta-sts"       // the receiving domain's MTA-STS policy (RFC 8461)
	PolicyEnforced      TLSPolicy = "enforced"      // the sender's tls_mode
	PolicyDANE          TLSPolicy = "dane"          // the mail host's TLSA records (RFC 7672)
)
