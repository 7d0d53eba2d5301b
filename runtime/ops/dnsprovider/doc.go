// Package dnsprovider publishes DNS records for a customer at the provider of the customer's zone, through
// libdns.
//
// # What it does
//
// Locate finds the zone of a domain and its provider, from its name servers. Open takes the credentials of a
// provider, Plan compares the wanted records with those of the zone, and Apply writes the changes and reads
// them back.
//
// # What it never does
//
// Existing records are never overwritten or lost. A conflicting record is explained in the plan, and Apply
// does not change it. Values are added and removed individually. No record set is replaced as a whole,
// because this could delete a site verification at the apex, for example. The only record that is changed is
// an SPF record without our include, because a domain may have only one (RFC 7208 section 4.5): the longer
// record is added, then the old one removed, and the new one removed again if that fails.
//
// # Credentials
//
// They live as long as the Zone that Open returns, and are never stored or logged. They are removed, in whole
// and in part, from the messages of a provider before those become errors: some providers echo a rejected
// token.
//
// # Network access
//
// The hosts of the HTTP providers are constants; no credential can change them. Requests to cloudflare, digitalocean,
// hetzner and route53 use the guarded client of runtime/web/egress. The libraries of gandi and ovh bring their own
// clients and accept neither another client nor a base URL: they cannot be guarded, and connect to the addresses that
// DNS returns for their one host, over TLS with a verified certificate. The user specifies the server of rfc2136. Its
// address is looked up once, must pass the guard, and is then dialed.
//
// The APIs of digitalocean, hetzner and route53 are called without a library, because their libraries contain SDKs of
// a megabyte each.
//
// # Unsupported providers
//
// porkbun deletes by name and type, and namecheap rewrites all hosts of a domain: both would lose records.
// linode swallows errors and replaces the process's logger; godaddy logs every record and, like porkbun,
// cannot be cancelled. googleclouddns and azure are large. Locate recognizes all of them.
package dnsprovider
