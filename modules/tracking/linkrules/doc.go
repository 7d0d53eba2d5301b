// Package linkrules decides on which hosts a tracked link is answered, and whether it may redirect.
//
// # Hosts
//
// The installation's own hosts are the host of the base URL, those of POSTRIDER_LINK_HOSTS, and what
// cannot be a customer's name: IP addresses, localhost and names of one label. Every other host
// belongs to an account: it is the tracking host of one of its domains, or was one and still lies
// below a domain that the account may send from. A link is answered
//
//   - on the host that its token was issued for: the token's signature covers that host;
//   - and, on a host that is not the installation's own, only while the host belongs to the account
//     of the token. When the domain is deleted or moves to another account, its host answers nothing.
//
// Tokens of versions before this rule carry no host. They are answered on the installation's own
// hosts and on every host of their account.
//
// # Withheld links
//
// A click does not redirect while its account is suspended, or while an operator has flagged the
// target: a host with the names below it, or the beginning of a URL.
//
// # Freshness
//
// Each process keeps suspended accounts, tracking hosts and flags in memory and reads them again
// every 5 seconds, so a redirect costs no query. While the database is unavailable, the last
// state applies. Only a link under a former tracking host asks the database, at most once in
// 5 seconds for each host and account.
package linkrules
