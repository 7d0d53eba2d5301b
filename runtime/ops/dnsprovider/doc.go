// Package dnsprovider publishes DNS records for a customer at the service that
// runs the customer's zone, through libdns.
//
// # What it does
//
// Locate finds the zone of a domain and who runs it, from its name servers. Open
// takes the credentials of a provider, Plan compares the records that are wanted
// with those of the zone, Apply writes what the plan says and reads it back.
//
// # What it never does
//
// Nothing that is there is overwritten or lost. A record that stands in the way
// is a conflict, which the plan explains and Apply leaves alone. Values are added
// and taken away one by one; no set of records is replaced as a whole, which is
// how a site verification at the apex gets lost. The one record that is changed
// is an SPF record that lacks our include, for a domain may have only one (RFC
// 7208 section 4.5): the longer record is added, then the old one removed, and the
// new one taken back when that fails.
//
// # Credentials
//
// They live as long as the Zone that Open made, are stored nowhere and logged
// nowhere. What a provider says is scrubbed of them, in whole and in part, before
// it becomes an error: some echo the token that they refuse.
//
// # Where requests go
//
// The hosts of the HTTP providers are constants of their libraries; no credential
// can name another. Cloudflare's goes through the guarded client of
// runtime/web/egress. The libraries of digitalocean, hetzner, gandi, ovh and route53
// bring clients of their own and take neither another nor a base URL (route53
// follows AWS_ENDPOINT_URL_ROUTE_53 of the process's environment, which is the
// operator's): they cannot be guarded, and connect to whatever DNS says of their
// one host, over TLS with its certificate verified. The server of rfc2136 is named by
// a stranger: its address is looked up once, must pass the guard, and is what is
// dialled.
//
// # Providers that are left out
//
// porkbun deletes by name and type, namecheap rewrites all hosts of a domain:
// both would lose records. linode swallows refusals and replaces the process's
// logger; godaddy logs every record and, like porkbun, cannot be stopped.
// googleclouddns and azure are large. All of them are recognised by Locate.
package dnsprovider
