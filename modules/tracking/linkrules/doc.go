// Package linkrules decides on which hosts a tracked link is answered, and whether it may redirect.
//
// # Hosts
//
// The installation's own hosts are the host of the base URL, those of POSTRIDER_LINK_HOSTS, and names that no
// customer can have: IP addresses, localhost and single-label names. Every other host belongs to an account:
// it is the tracking host of one of its domains, or was one and is still below a domain that the account may
// send from. A link is answered
//
//   - on the host that its token was issued for, which the token's signature covers;
//   - on a host that is not the installation's own, only while the host belongs to the token's
//     account. When the domain is deleted or moves to another account, its host answers no links.
//
// Tokens of versions before this rule contain no host. They are answered on the installation's own hosts and
// on every host of their account.
//
// # Withheld links
//
// A click does not redirect while its account is suspended, or while an operator has flagged the target: a
// host with the names below it, or a URL prefix.
//
// # Freshness
//
// Each process keeps suspended accounts, tracking hosts and flags in memory and reloads them every 5 seconds,
// so a redirect needs no query. While the database is unavailable, the last state applies. Only a link under
// a former tracking host queries the database, at most once in 5 seconds for each host and account.
package linkrules
